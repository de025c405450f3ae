public import FoundationEssentials

/// Templates that take turns.
public struct TemplatePool: Equatable, Sendable {
  /// The templates in their order, each once.
  public let templates: [CampaignTemplate]

  /// A pool, possibly empty; a template that is there already is left out, as it would be the same text again.
  public init(_ templates: [CampaignTemplate]) {
    var seen: Set<CampaignTemplate> = []
    self.templates = templates.filter { seen.insert($0).inserted }
  }

  /// The text for one user on one day.
  ///
  /// Those templates take part for which all values are there. Each user begins somewhere in the rotation and goes one
  /// further each day, so that on two days in a row with the same kinds of values the templates differ as soon as two take
  /// part, and everybody sees all of them in turn. Nothing is stored for it, and nothing random is in it: whoever asks
  /// again gets the same text.
  /// - Parameters:
  ///   - user: the user's identifier.
  ///   - localDay: the day on the user's own clock, see ``LocalTime/day(of:)``.
  ///   - values: by the name of their place.
  /// - Returns: nil when no template can be filled.
  public func text(for user: UUID, on localDay: Int, with values: [String: String]) -> CampaignText? {
    let texts = templates.compactMap { $0.text(with: values) }
    if texts.isEmpty { return nil }
    let start = Int(Self.hash(of: user) % UInt64(texts.count))
    // The remainder first: no day, however far, makes the sum overflow. Days before 1970 have a negative one.
    let turn = localDay % texts.count + texts.count
    return texts[(start + turn) % texts.count]
  }

  /// FNV-1a over the sixteen bytes; the standard library's hashes differ from process to process.
  private static func hash(of user: UUID) -> UInt64 {
    withUnsafeBytes(of: user.uuid) { bytes in
      bytes.reduce(0xcbf2_9ce4_8422_2325) { hash, byte in (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    }
  }
}
