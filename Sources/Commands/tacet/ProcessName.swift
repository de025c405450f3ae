/// What one run of the service is called, in its log and wherever it says what it did.
enum ProcessName {
  /// Eight hexadecimal digits, drawn anew at each start: a process that comes back after a crash is another one, which a
  /// host name or process number would not show. With a hundred processes two share one once in a million times.
  static func random() -> String {
    let digits = String(UInt32.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}
