import Glibc

/// The moment of a log line.
///
/// Written by hand: there is a line for every push, and Foundation's formatting takes longer than all the rest of it.
struct LogTimestamp {
  /// Since 1970.
  let seconds: Int
  /// Of the second, below 1000.
  let milliseconds: Int

  /// The moment of the call, by the machine's clock.
  static var now: LogTimestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return LogTimestamp(seconds: time.tv_sec, milliseconds: time.tv_nsec / 1_000_000)
  }

  /// ISO 8601 in UTC, as `2027-01-31T12:00:00.250Z`.
  var text: String {
    var (time, parts) = (seconds, tm())
    gmtime_r(&time, &parts)
    return String(unsafeUninitializedCapacity: 24) { text in
      var end = 0
      func put(_ number: Int, digits: Int, then mark: Unicode.Scalar) {
        var rest = number
        for place in (end..<end + digits).reversed() {
          text[place] = UInt8(ascii: "0") + UInt8(rest % 10)
          rest /= 10
        }
        text[end + digits] = UInt8(ascii: mark)
        end += digits + 1
      }
      put(Int(parts.tm_year) + 1900, digits: 4, then: "-")
      put(Int(parts.tm_mon) + 1, digits: 2, then: "-")
      put(Int(parts.tm_mday), digits: 2, then: "T")
      put(Int(parts.tm_hour), digits: 2, then: ":")
      put(Int(parts.tm_min), digits: 2, then: ":")
      put(Int(parts.tm_sec), digits: 2, then: ".")
      put(milliseconds, digits: 3, then: "Z")
      return end
    }
  }
}
