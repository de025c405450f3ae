/// What one check came to: a line for whoever runs the service.
public struct CheckFinding: Equatable, Sendable {
  /// How well it is. The raw values are those of the JSON form.
  public enum Verdict: String, Sendable {
    /// As it should be.
    case ok
    /// Works, and somebody should look at it.
    case warning = "warn"
    /// Does not work, or will not.
    case failure = "fail"
    /// Was not looked at; the line says why.
    case skipped = "skip"

    /// Four letters for people; what fails stands out.
    var word: String { self == .failure ? "FAIL" : rawValue.padded(to: 4) }
  }

  /// What was looked at: small letters, with what it is about behind a blank, e.g. `apns com.example.app/production`.
  public let name: String
  /// How well it is.
  public let verdict: Verdict
  /// What was found: one line, without secrets.
  public let found: String
  /// What to do about it; nil when there is nothing to do.
  public let remedy: String?

  init(_ name: String, _ verdict: Verdict, _ found: String, remedy: String? = nil) {
    self.name = name
    self.verdict = verdict
    // Errors of others may have several lines.
    self.found = found.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    self.remedy = remedy
  }

  /// One line for people.
  public var line: String {
    let end = found.hasSuffix("?") ? "" : "."
    return "\(verdict.word)  \(name): \(found)" + (remedy.map { "\(end) To do: \($0)" } ?? "")
  }
}

extension CheckFinding: Encodable {
  private enum CodingKeys: String, CodingKey { case name, verdict, found, remedy }

  /// An object with `name`, `verdict` (`ok`, `warn`, `fail`, `skip`), `found` and, where there is one, `remedy`.
  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: CodingKeys.self)
    try object.encode(name, forKey: .name)
    try object.encode(verdict.rawValue, forKey: .verdict)
    try object.encode(found, forKey: .found)
    try object.encodeIfPresent(remedy, forKey: .remedy)
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
