/// What a push says about a message: who wrote, and how it begins.
///
/// Both texts are cut between grapheme clusters, so that no accent, flag or family is torn. However long the input is,
/// only its first few kilobytes are looked at.
public struct MessagePreview: Equatable, Sendable {
  /// The most grapheme clusters of the text that are shown.
  public static let bodyClustersMax = 50
  /// The most bytes of the text that are shown. A cluster has no largest size, so counting clusters bounds nothing; the
  /// longest emoji in use (a family with four skin tones) has 41 bytes, fifty of them fit, and over 1,600 of the 4,096
  /// bytes that APNs takes remain for everything else.
  public static let bodyBytesMax = 2_400
  /// The most grapheme clusters of a name that are shown; more than a screen shows, less than a text.
  public static let nameClustersMax = 80
  /// The most bytes of a name that are shown: 80 clusters of a script with combining marks, at 9 bytes each.
  public static let nameBytesMax = 720

  /// `Message from <name>`, or `New message` when there is no name.
  public let title: String
  /// The first 50 clusters of the text, with `...` when there was more; empty for an empty text, such as a bare
  /// picture's.
  public let body: String

  /// Makes the preview of one message.
  ///
  /// Line breaks, tabs and other control characters become one space each: a preview is one line, and a name must not
  /// be able to draw a second one. In the text each still counts as the one character it was; the name is also freed of
  /// the space around it.
  /// - Parameters:
  ///   - senderName: the sender's display name; nil, empty or blank when unknown.
  ///   - text: the message.
  public init(senderName: String?, text: String) {
    let name = TextExcerpt(of: senderName ?? "", clustersMax: Self.nameClustersMax, bytesMax: Self.nameBytesMax)
      .text.trimmed
    title = name.isEmpty ? "New message" : "Message from " + name
    body = TextExcerpt(of: text, clustersMax: Self.bodyClustersMax, bytesMax: Self.bodyBytesMax).text
  }
}

extension String {
  /// Without the white space around it.
  fileprivate var trimmed: Substring {
    var rest = drop(while: \.isWhitespace)
    while let last = rest.last, last.isWhitespace { rest.removeLast() }
    return rest
  }
}
