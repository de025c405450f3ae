/// What a push says about an event for which the host, or a server, has found the words.
///
/// Both texts are put on one line and cut between grapheme clusters, like those of ``MessagePreview``. However long the
/// input is, only its first kilobytes are looked at.
public struct NoticePreview: Equatable, Sendable {
  /// The most grapheme clusters of a title that are shown.
  public static let titleClustersMax = 100
  /// The most bytes of a title that are shown. In a document each may take six, so that a title can never fill a push.
  public static let titleBytesMax = 400
  /// The most grapheme clusters of a body that are shown; more than any screen shows before the push is opened.
  public static let bodyClustersMax = 200
  /// The most bytes of a body that are shown.
  public static let bodyBytesMax = 2_400

  /// The first line; empty for an empty one.
  public let title: String
  /// The text; empty for an empty one.
  public let body: String

  /// Cuts both.
  public init(title: String, body: String) {
    self.title = TextExcerpt(of: title, clustersMax: Self.titleClustersMax, bytesMax: Self.titleBytesMax).text
    self.body = TextExcerpt(of: body, clustersMax: Self.bodyClustersMax, bytesMax: Self.bodyBytesMax).text
  }
}
