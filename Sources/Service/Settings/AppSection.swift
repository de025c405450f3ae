internal import APNSCore

/// What a settings file says of one app, between `[app com.example.app]` and the next section.
struct AppSection: Equatable {
  let bundleIdentifier: BundleIdentifier
  var values: [String: String] = [:]

  init(_ bundleIdentifier: BundleIdentifier) {
    self.bundleIdentifier = bundleIdentifier
  }

  /// The section's first line.
  var header: String { "[app \(bundleIdentifier.text)]" }
}

extension AppSection {
  /// Reads `[app com.example.app]`.
  init(header line: Substring) throws(UnusableValue) {
    let expectation = "[app BUNDLE], such as [app com.example.app]"
    guard line.hasPrefix("["), line.hasSuffix("]") else { throw UnusableValue("no section", expected: expectation) }
    let words = line.dropFirst().dropLast().split(whereSeparator: \.isWhitespace)
    guard words.count == 2, words[0] == "app", let bundle = try? BundleIdentifier(String(words[1])) else {
      throw UnusableValue("no section", expected: expectation)
    }
    self.init(bundle)
  }
}
