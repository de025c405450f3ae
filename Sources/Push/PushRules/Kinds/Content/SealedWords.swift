/// What is sealed of a push: `{"issued_at":…,"title":…,"subtitle":…,"body":…,"image_url":…,"data":{…}}`, without what is empty.
struct SealedWords {
  /// The end of a shortened body.
  private static let continuation = "…"

  /// When the push was made, milliseconds since 1970. A push that is sent again has a later one.
  let issuedAt: Int64
  let title: String?
  var subtitle: String?
  var body: String?
  let imageURL: String?
  /// The members that stay behind of the push's data.
  var data: PayloadObject

  init(of alert: AlertPayload, withheld data: PayloadObject, issuedAt: Int64) {
    self.issuedAt = issuedAt
    title = alert.title?.words.nonEmpty
    subtitle = alert.subtitle?.words.nonEmpty
    body = alert.body?.words.nonEmpty
    var data = data
    if case .string(let address)? = data["image_url"] { imageURL = address } else { imageURL = nil }
    data["image_url"] = nil
    self.data = data
  }

  /// The document, of at most so many bytes: the body is cut between grapheme clusters and ends in an ellipsis. Where that is not
  /// enough, the data is left out, and then the subtitle.
  /// - Returns: nil when the rest alone is too large.
  func encoded(bytesMax: Int) -> [UInt8]? {
    var words = self
    for cut in [{ _ in }, { $0.data = [:] }, { $0.subtitle = nil }] as [(inout SealedWords) -> Void] {
      cut(&words)
      if let document = words.fitted(to: bytesMax) { return document }
    }
    return nil
  }

  private func fitted(to bytesMax: Int) -> [UInt8]? {
    let whole = document
    guard whole.count > bytesMax else { return whole }
    guard let body else { return nil }
    let width = body.utf8.reduce(0) { $0 + JSONEscape.width(of: $1) }
    let room = width - (whole.count - bytesMax) - Self.continuation.utf8.count
    guard room >= 0 else { return nil }
    var shorter = self
    shorter.body = body.beginning(bytesMax: room, width: JSONEscape.width) + Self.continuation
    return shorter.document
  }

  private var document: [UInt8] {
    var document: PayloadObject = ["issued_at": .integer(issuedAt)]
    document["title"] = title.map { .string($0) }
    document["subtitle"] = subtitle.map { .string($0) }
    document["body"] = body.map { .string($0) }
    document["image_url"] = imageURL.map { .string($0) }
    if !data.members.isEmpty { document["data"] = .object(data) }
    return document.encoded()
  }
}

extension String {
  /// Nil for no words, as beside a key of the app's translations.
  fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
