#include "base/result/load.h"

namespace viaduct::result {

using fields::Always;
using fields::WhenSet;

fields::KeysOf<LoadTimes> LoadTimes::Keys() {
  static constexpr fields::Key<LoadTimes> kKeys[] = {
      Always<&LoadTimes::min>("min", "us", "the shortest"),
      Always<&LoadTimes::mean>("mean", "us", "the mean"),
      Always<&LoadTimes::p50>(
          "p50", "us",
          "half of them were at most this; exact of up to 1024, else within 0.1%, as `p99`"),
      Always<&LoadTimes::p99>("p99", "us", "99 in 100 were at most this"),
      Always<&LoadTimes::max>("max", "us", "the longest"),
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
      Always<&S::role>("role", "send", "which end this is"),
      Always<&S::flow>("flow", "a whole number", "marks the flow's packets"),
      Always<&S::size>("size", "bytes", "of each packet's UDP payload"),
      Always<&S::started>("started_s", "s", "when the first packet was due, CLOCK_MONOTONIC"),
      Always<&S::offered>("offered", "packets", "due to be sent; the loss is a share of these"),
      Always<&S::sent>("sent", "packets", "of these, passed to the kernel"),
      Always<&S::errors>("errors", "packets", "of these, refused by the kernel"),
      Always<&S::refused>("refused", "packets, by error", "the same by errno: `ENETUNREACH`, ..."),
      Always<&S::interface_drops>("interface_drops", "packets",
                                  "dropped meanwhile by the interfaces of the sender's namespace "
                                  "on their way out, of whatever program"),
      Always<&S::seconds>("seconds", "s", "how long that took"),
      Always<&S::target_pps>("target_pps", "packets/s", "the requested rate; null: `max`"),
      Always<&S::offered_pps>("offered_pps", "packets/s", "the offered rate"),
      Always<&S::offered_rate>("offered_bit_per_s", "bit/s", "of payload"),
      Always<&S::late>("late_us", "a map",
                       "how late each packet was passed to the kernel; null: `max`"),
      Always<&S::slip_seconds>("slip_s", "s", "how far the schedule was shifted"),
  };
  return kKeys;
}

fields::KeysOf<LoadPinged> LoadPinged::Keys() {
  using P = LoadPinged;
  static constexpr fields::Key<P> kKeys[] = {
      Always<&P::role>("role", "ping", "what it has done"),
      Always<&P::size>("size", "bytes", "of each request after the ICMP header"),
      Always<&P::started>("started_s", "s", "when the first request was due, CLOCK_MONOTONIC"),
      Always<&P::offered>("offered", "requests", "due to be sent; the loss is a share of these"),
      Always<&P::sent>("sent", "requests", "of these, passed to the kernel"),
      Always<&P::errors>("errors", "requests", "of these, refused by the kernel"),
      Always<&P::refused>("refused", "requests, by error", "the same by errno: `ENETUNREACH`, ..."),
      Always<&P::received>("received", "requests", "that were answered"),
      Always<&P::lost>(
          "lost", "requests",
          "that were not, in the time that it waits for the last, without `dropped_here`"),
      Always<&P::loss>("loss", "0..1", "`lost` as a share of the offered requests"),
      Always<&P::duplicates>("duplicates", "replies", "to a request that had been answered before"),
      Always<&P::foreign>("foreign", "replies", "to no request of it"),
      Always<&P::dropped_here>("dropped_here", "replies",
                               "that arrived, but this program was too slow for them"),
      Always<&P::seconds>("seconds", "s", "how long the sending took"),
      Always<&P::rtt>("rtt_us", "a map",
                      "round trips, from before the system call that sends a request to the "
                      "kernel's time stamp of its reply; null: none"),
      Always<&P::late>("late_us", "a map", "how late each request was passed to the kernel"),
      Always<&P::slip_seconds>("slip_s", "s", "how far the schedule was shifted"),
      Always<&P::samples>("samples", "pairs: s, ms",
                          "round trips by the time of the request, since the first"),
      Always<&P::samples_merged>("samples_merged", "measurements", "so many are one sample"),
      Always<&P::gaps>("gaps", "a list of maps",
                       "requests in a row that were not answered; times are since the first"),
      Always<&P::gaps_omitted>("gaps_omitted", "requests", "of gaps that are not listed"),
  };
  return kKeys;
}

fields::KeysOf<LoadSeries> LoadSeries::Keys() {
  static constexpr fields::Key<LoadSeries> kKeys[] = {
      Always<&LoadSeries::interval>("interval_s", "s", "the length of an interval"),
      Always<&LoadSeries::packets>("packets", "a list of packets",
                                   "received in each, from the flow's first packet on"),
  };
  return kKeys;
}

fields::KeysOf<LoadReceived> LoadReceived::Keys() {
  using R = LoadReceived;
  static constexpr fields::Key<R> kKeys[] = {
      Always<&R::role>("role", "receive", "which end this is"),
      Always<&R::ended_by>("ended_by", "text", "`sender` (its end marker), `duration` or `signal`"),
      Always<&R::cut>("cut", "true or false",
                      "whether packets were still arriving when it was made to end"),
      Always<&R::first>("first_s", "s", "when the first packet arrived, CLOCK_MONOTONIC"),
      Always<&R::sent>("sent", "packets", "offered, from the end marker; null: none arrived"),
      Always<&R::received>("received", "packets", "without duplicates"),
      Always<&R::lost>("lost", "packets",
                       "that did not arrive: neither received nor `dropped_here`"),
      Always<&R::loss>("loss", "0..1", "`lost` as a share of the offered packets"),
      Always<&R::duplicates>("duplicates", "packets", "that arrived more than once"),
      Always<&R::reordered>("reordered", "packets", "that arrived after a later one"),
      Always<&R::dropped_here>("dropped_here", "packets",
                               "that arrived, but this program was too slow for them"),
      Always<&R::foreign>("foreign", "packets", "that do not belong to the flow"),
      Always<&R::size>("size", "bytes", "the mean UDP payload"),
      Always<&R::seconds>("seconds", "s", "from the first packet to the last"),
      Always<&R::packet_rate>("pps", "packets/s", "in that time"),
      Always<&R::rate>("bit_per_s", "bit/s", "of payload, in that time"),
      Always<&R::delay>("delay_us", "a map", "one-way delays; null: no packet arrived"),
      Always<&R::sample>("sample", "packets", "one packet of this many was examined"),
      Always<&R::series>("series", "a map", "over time"),
      WhenSet<&R::gaps>("gaps", "a list of maps",
                        "packets in a row that were lost, if each was examined; times are "
                        "CLOCK_MONOTONIC of the sender; the first `from` may be 0"),
      Always<&R::gaps_omitted>("gaps_omitted", "packets", "of gaps that are not listed"),
  };
  return kKeys;
}

}  // namespace viaduct::result
