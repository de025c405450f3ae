internal import FoundationEssentials
internal import PushStore

/// The addresses of the pages.
enum DashboardLink {
  static let overview = "/dashboard"
  static let login = "/dashboard/login"
  static let logout = "/dashboard/logout"
  static let search = "/dashboard/search"
  static let pushes = "/dashboard/pushes"
  static let explanation = "/dashboard/explain"
  static let style = "/dashboard/style.css"

  /// The log-in form, and where it leads.
  static func login(then target: String) -> String {
    target == overview ? login : address(login, [("then", target)])
  }

  /// A user's pushes; those after one.
  static func pushes(ofUser id: UUID, after last: LedgerEntry? = nil) -> String {
    address(
      pushes,
      [("user_id", text(id))] + (last.map { [("time", String($0.enqueuedAt)), ("after", text($0.id))] } ?? []))
  }

  /// The recipients of a subject; those after one.
  static func pushes(ofSubject id: UUID, after last: LedgerEntry? = nil) -> String {
    address(
      pushes, [("subject_id", text(id))] + (last.map { [("after", text($0.userID)), ("kind", $0.kind)] } ?? []))
  }

  /// Why a push came or did not; of all recipients without a user.
  static func explanation(of subject: UUID, kind: String, userID: UUID?) -> String {
    address(
      explanation, [("subject_id", text(subject)), ("kind", kind)] + (userID.map { [("user_id", text($0))] } ?? []))
  }

  /// Whether a text is an address of ours to go to after the log-in; anything else could lead away.
  static func isPage(_ target: String) -> Bool {
    guard target.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }) else { return false }
    return target == overview || target.hasPrefix(overview + "/") || target.hasPrefix(overview + "?")
  }

  private static func address(_ path: String, _ parameters: [(name: String, value: String)]) -> String {
    path + "?" + parameters.map { "\($0.name)=\(encoded($0.value))" }.joined(separator: "&")
  }

  /// Everything but the unreserved characters of RFC 3986 is encoded.
  private static func encoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF")
    return text.utf8.reduce(into: "") { encoded, byte in
      let character = Character(UnicodeScalar(byte))
      if character.isASCII, character.isLetter || character.isNumber || "-._~".contains(character) {
        encoded.append(character)
      } else {
        encoded += ["%", digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
  }

  private static func text(_ id: UUID) -> String { id.uuidString.lowercased() }
}
