#include "base/result/load.h"

namespace viaduct::result {

using fields::Always;
using fields::WhenSet;

fields::KeysOf<LoadTimes> LoadTimes::Keys() {
  static constexpr fields::Key<LoadTimes> kKeys[] = {
      Always<&LoadTimes::min>("min", "us", "the minimum"),
      Always<&LoadTimes::mean>("mean", "us", "the mean"),
      Always<&LoadTimes::p50>(
          "p50", "us",
          "the median; exact for up to 1024 values, otherwise within 0.1%, as is `p99`"),
      Always<&LoadTimes::p99>("p99", "us",
                              "the 99th percentile: 99 in 100 values are at most this time"),
      Always<&LoadTimes::max>("max", "us", "the maximum"),
  };
  return kKeys;
}

std::optional<LoadTimes> LoadTimes::Of(const Histogram& nanoseconds) {
  if (nanoseconds.Count() == 0) return std::nullopt;
  const auto microseconds = [](auto value) { return static_cast<double>(value) / 1e3; };
  return LoadTimes{microseconds(nanoseconds.Min()), microseconds(nanoseconds.Mean()),
                   microseconds(nanoseconds.Quantile(0.5)),
                   microseconds(nanoseconds.Quantile(0.99)), microseconds(nanoseconds.Max())};
}

fields::KeysOf<LoadSent> LoadSent::Keys() {
  using S = LoadSent;
  static constexpr fields::Key<S> kKeys[] = {
      Always<&S::role>("role", "send",
                       "the end of the flow, sender or receiver, that reports these results"),
      Always<&S::flow>("flow", "a whole number", "the number that marks the flow's packets"),
      Always<&S::size>("size", "bytes", "the size of each packet's UDP payload"),
      Always<&S::started>("started_s", "s",
                          "the time at which the first packet was due (CLOCK_MONOTONIC)"),
      Always<&S::offered>("offered", "packets",
                          "packets that were due to be sent; the loss is a share of this number"),
      Always<&S::sent>("sent", "packets", "offered packets that were passed to the kernel"),
      Always<&S::errors>("errors", "packets", "offered packets that the kernel refused"),
      Always<&S::refused>("refused", "packets, by error",
                          "the packets of `errors` by errno: `ENETUNREACH`, ..."),
      Always<&S::interface_drops>("interface_drops", "packets",
                                  "outgoing packets, of any program, that the interfaces of the "
                                  "sender's network namespace dropped during the flow"),
      Always<&S::seconds>("seconds", "s", "how long the sending took"),
      Always<&S::target_pps>("target_pps", "packets/s",
                             "the requested rate; null for the rate `max`"),
      Always<&S::offered_pps>("offered_pps", "packets/s", "the offered rate"),
      Always<&S::offered_rate>("offered_bit_per_s", "bit/s", "the offered rate of payload"),
      Always<&S::late>("late_us", "a map",
                       "the lateness of the packets when they were passed to the kernel; null for "
                       "the rate `max`"),
      Always<&S::slip_seconds>("slip_s", "s",
                               "the total time by which the program was late and shifted its "
                               "schedule, because it could not catch up"),
  };
  return kKeys;
}

fields::KeysOf<LoadPinged> LoadPinged::Keys() {
  using P = LoadPinged;
  static constexpr fields::Key<P> kKeys[] = {
      Always<&P::role>("role", "ping", "the kind of measurement"),
      Always<&P::size>("size", "bytes",
                       "the payload size of each request, without the ICMP header"),
      Always<&P::started>("started_s", "s",
                          "the time at which the first request was due (CLOCK_MONOTONIC)"),
      Always<&P::offered>("offered", "requests",
                          "requests that were due to be sent; the loss is a share of this number"),
      Always<&P::sent>("sent", "requests", "offered requests that were passed to the kernel"),
      Always<&P::errors>("errors", "requests", "offered requests that the kernel refused"),
      Always<&P::refused>("refused", "requests, by error",
                          "the requests of `errors` by errno: `ENETUNREACH`, ..."),
      Always<&P::received>("received", "requests", "requests that were answered"),
      Always<&P::lost>("lost", "requests",
                       "requests that were not answered within the timeout for the last reply, not "
                       "counting `dropped_here`"),
      Always<&P::loss>("loss", "0..1", "`lost` as a share of the offered requests"),
      Always<&P::duplicates>("duplicates", "replies",
                             "replies to a request that had already been answered"),
      Always<&P::foreign>("foreign", "replies", "replies that answer no request of this program"),
      Always<&P::dropped_here>("dropped_here", "replies",
                               "replies that arrived but were dropped, because this program was "
                               "too slow to receive them"),
      Always<&P::seconds>("seconds", "s", "how long the sending took"),
      Always<&P::rtt>("rtt_us", "a map",
                      "round-trip times, from before the system call that sends a request to the "
                      "kernel's time stamp of its reply; null if there was no reply"),
      Always<&P::late>("late_us", "a map",
                       "the lateness of the requests when they were passed to the kernel"),
      Always<&P::slip_seconds>("slip_s", "s",
                               "the total time by which the program was late and shifted its "
                               "schedule, because it could not catch up"),
      Always<&P::samples>("samples", "pairs: s, ms",
                          "pairs of the time of a request, in seconds from the first request, and "
                          "its round-trip time"),
      Always<&P::samples_merged>("samples_merged", "measurements",
                                 "the number of measurements that are merged into one sample"),
      Always<&P::gaps>("gaps", "a list of maps",
                       "gaps, which are consecutive requests that were not answered; times are "
                       "counted from the first request"),
      Always<&P::gaps_omitted>("gaps_omitted", "requests",
                               "unanswered requests in gaps that are not listed"),
  };
  return kKeys;
}

fields::KeysOf<LoadSeries> LoadSeries::Keys() {
  static constexpr fields::Key<LoadSeries> kKeys[] = {
      Always<&LoadSeries::interval>("interval_s", "s", "the length of each interval"),
      Always<&LoadSeries::packets>(
          "packets", "a list of packets",
          "packets received in each interval, from the flow's first packet on"),
  };
  return kKeys;
}

fields::KeysOf<LoadReceived> LoadReceived::Keys() {
  using R = LoadReceived;
  static constexpr fields::Key<R> kKeys[] = {
      Always<&R::role>("role", "receive",
                       "the end of the flow, sender or receiver, that reports these results"),
      Always<&R::ended_by>(
          "ended_by", "text",
          "what ended the measurement: `sender` (its end marker), `duration` or `signal`"),
      Always<&R::cut>("cut", "true or false",
                      "whether packets were still arriving when the measurement was ended"),
      Always<&R::first>("first_s", "s",
                        "the time at which the first packet arrived (CLOCK_MONOTONIC)"),
      Always<&R::sent>("sent", "packets",
                       "packets that the sender offered, as its end marker (the flow's last "
                       "packet) reports; null if no end marker arrived"),
      Always<&R::received>("received", "packets", "packets received, without duplicates"),
      Always<&R::lost>("lost", "packets",
                       "packets that did not arrive: neither received nor `dropped_here`"),
      Always<&R::loss>("loss", "0..1", "`lost` as a share of the offered packets"),
      Always<&R::duplicates>("duplicates", "packets", "packets that arrived more than once"),
      Always<&R::reordered>("reordered", "packets", "packets that arrived after a later packet"),
      Always<&R::dropped_here>("dropped_here", "packets",
                               "packets that arrived but were dropped, because this program was "
                               "too slow to receive them"),
      Always<&R::foreign>("foreign", "packets", "packets that do not belong to the flow"),
      Always<&R::size>("size", "bytes", "the mean size of the UDP payload"),
      Always<&R::seconds>("seconds", "s", "the time from the first packet to the last"),
      Always<&R::packet_rate>("pps", "packets/s", "the rate of packets during `seconds`"),
      Always<&R::rate>("bit_per_s", "bit/s", "the rate of payload during `seconds`"),
      Always<&R::delay>("delay_us", "a map", "one-way delays; null if no packet arrived"),
      Always<&R::sample>("sample", "packets",
                         "the sampling interval: one in this number of packets was examined"),
      Always<&R::series>("series", "a map", "the packets received over time"),
      WhenSet<&R::gaps>(
          "gaps", "a list of maps",
          "gaps, which are consecutive packets that were lost, if every packet was examined; times "
          "are CLOCK_MONOTONIC of the sender; the first `from` may be 0"),
      Always<&R::gaps_omitted>("gaps_omitted", "packets",
                               "lost packets in gaps that are not listed"),
  };
  return kKeys;
}

}  // namespace viaduct::result
