internal import FoundationEssentials
internal import HTTP1
internal import PushRules
internal import PushStore

/// The parameters of a query, each at most once, and no unknown one: a misspelt parameter would change what is asked.
struct StrictQuery {
  private let values: [String: String]

  init(_ head: RequestHead, known names: [String]) throws(ProblemDetails) {
    let parameters = head.queryParameters
    let sent = (head.query ?? "").split(separator: "&").count
    let unknown = parameters.first { !names.contains($0.name) }?.name
    guard parameters.count == sent, unknown == nil else {
      throw .content(unknown, "The parameters are \(Self.list(names)).")
    }
    for name in names where parameters.count(where: { $0.name == name }) > 1 {
      throw .content(name, "\(name) must come once.")
    }
    var values: [String: String] = [:]
    for name in names { values[name] = head.queryValue(name) }
    self.values = values
  }

  subscript(name: String) -> String? { values[name] }

  func id(_ name: String, of type: IDTypes.IDType) throws(ProblemDetails) -> HostID? {
    guard let text = values[name] else { return nil }
    return try type.id(text, named: name)
  }

  /// A kind's or a campaign's name.
  func name(_ name: String) throws(ProblemDetails) -> String? {
    guard values[name].map(PushSubject.canBeKind) != false else {
      throw .content(name, "\(name) must be 1 to 63 small letters, digits and underscores, a letter first.")
    }
    return values[name]
  }

  private static func list(_ names: [String]) -> String {
    names.count == 1 ? names[0] : names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
  }
}
