# The eBPF programs that forward and join nodes' packets, discard copies and send packets up.
set(room plane/bpf)
viaduct_bpf_program(viaduct_plane_bpf ${room}/copy Copy ${room}/packet.bpf.h ${room}/port.h ${room}/copy.h)
viaduct_bpf_program(viaduct_plane_bpf ${room}/forward Forward ${room}/packet.bpf.h ${room}/port.h)
viaduct_bpf_program(viaduct_plane_bpf ${room}/join Join ${room}/packet.bpf.h ${room}/random.bpf.h ${room}/port.h ${room}/join.h)
viaduct_bpf_program(viaduct_plane_bpf ${room}/rbridge RBridge ${room}/packet.bpf.h ${room}/port.h ${room}/rbridge_frame.bpf.h
                    ${room}/rbridge.h)
viaduct_bpf_program(viaduct_plane_bpf ${room}/upcall Upcall ${room}/upcall.h)
