// The functions that replace functions of libc for a guest's kernel, with the same arguments and
// results (including errno). In copies of this process, each replacement behaves as libc's
// function.
#pragma once

#include <dirent.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <termios.h>

#include <csignal>
#include <cstdarg>
#include <cstdio>

namespace viaduct::embed::imports {

// --- Functions that wait (waits.cc).
long Syscall(long number, long a, long b, long c, long d, long e, long f);
int Poll(pollfd* entries, nfds_t count, int milliseconds);
ssize_t Read(int fd, void* buffer, size_t length);
ssize_t Recvmsg(int fd, msghdr* message, int flags);
ssize_t Write(int fd, const void* buffer, size_t length);
ssize_t Sendmsg(int fd, const msghdr* message, int flags);
int NeverWaits();

// --- Functions about descriptors and files (files.cc).
int Open(const char* path, int flags, mode_t mode);
int Socket(int domain, int type, int protocol);
int Socketpair(int domain, int type, int protocol, int* pair);
int Accept(int fd, sockaddr* address, socklen_t* length);
int Eventfd(unsigned value, int flags);
int EpollCreate(int size);
int EpollControl(int events, int operation, int fd, epoll_event* event);
int Dup(int fd);
int Dup2(int fd, int other);
int MemfdCreate(const char* name, unsigned flags);
int Mkstemp(char* name);
int Openpty(int* master, int* slave, char* name, const termios* settings, const winsize* size);
DIR* Opendir(const char* path);
int Closedir(DIR* folder);
FILE* Fopen(const char* path, const char* mode);
int Fclose(FILE* file);
int Close(int fd);
int Access(const char* path, int mode);
int Stat(const char* path, struct stat* about);
ssize_t Readlink(const char* path, char* target, size_t size);
int Connect(int fd, const sockaddr* address, socklen_t length);
int Fcntl(int fd, int command, long argument);
int Ioctl(int fd, unsigned long command, void* argument);
int Fstat(int fd, struct stat* about);
int Isatty(int fd);
int Tcgetattr(int fd, termios* settings);
int Tcsetattr(int fd, int when, const termios* settings);
int Mkdir(const char* path, mode_t mode);
int Mknod(const char* path, mode_t mode, dev_t device);
int Unlink(const char* path);
int Rmdir(const char* path);
int Rename(const char* from, const char* to);
int Link(const char* from, const char* to);
int Symlink(const char* from, const char* to);
int Fchmod(int fd, mode_t mode);
int Refuse();

// --- Functions about the process (process.cc).
[[noreturn]] void Exit(int status);
int Execute();
pid_t Fork();
int Clone(int (*function)(void*), void* stack, int flags, void* argument);
int Kill(pid_t pid, int number);
int64_t Ptrace(int request, pid_t pid, void* address, void* data);
pid_t Waitpid(pid_t pid, int* status, int options);
int PthreadCreate();
int Personality(unsigned long persona);
int Sigaction(int number, const struct sigaction* action, struct sigaction* old);
void (*Signal(int number, void (*handler)(int)))(int);
int Sigprocmask(int how, const sigset_t* set, sigset_t* old);
int Sigaltstack(const stack_t* stack, stack_t* old);
int Signalfd(int fd, const sigset_t* set, int flags);
int Nothing();
void* Sbrk(intptr_t size);
void* Mmap(void* start, size_t length, int protection, int flags, int fd, off_t offset);
int Munmap(void* start, size_t length);
int Mprotect(void* start, size_t length, int protection);
ssize_t Getrandom(void* buffer, size_t length, unsigned flags);
char* Getenv(const char* name);
int Printf(const char* format, ...);
int Vfprintf(FILE* file, const char* format, va_list arguments);
size_t Fwrite(const void* data, size_t size, size_t count, FILE* file);
void Perror(const char* text);

}  // namespace viaduct::embed::imports
