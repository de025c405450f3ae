/// A push written beforehand, with places for values in braces: `Your {event} is {when}.`
public struct CampaignTemplate: Hashable, Sendable {
  private let title: TemplateText
  private let body: TemplateText

  /// Reads a template.
  /// - Parameters:
  ///   - title: with its values cut to ``CheckInReply/titleClustersMax`` grapheme clusters, the ellipsis included.
  ///   - body: likewise to ``CheckInReply/bodyClustersMax``.
  /// - Throws: a ``TemplateDefect`` for what is no template. A brace cannot be written otherwise than around a name.
  public init(title: String, body: String) throws(TemplateDefect) {
    self.title = try TemplateText(title)
    self.body = try TemplateText(body)
  }

  /// The names of all its places, which must have values.
  public var placeholders: Set<String> {
    Set(
      (title.pieces + body.pieces).compactMap { piece in
        if case .placeholder(let name) = piece { name } else { nil }
      })
  }

  /// The push for some values, of which at most 80 Unicode scalars are shown, on one line and without angle brackets.
  /// - Returns: nil when a place has no value, or one with nothing visible: a sentence with a hole is worse than none.
  public func text(with values: [String: String]) -> CampaignText? {
    guard let title = title.rendered(with: values, clustersMax: CheckInReply.titleClustersMax),
      let body = body.rendered(with: values, clustersMax: CheckInReply.bodyClustersMax)
    else { return nil }
    return CampaignText(title: title, body: body)
  }
}
