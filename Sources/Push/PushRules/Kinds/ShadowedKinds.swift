/// The kinds whose pushes are decided, composed and recorded as always, and not sent.
package enum ShadowedKinds: Equatable, Sendable {
  case none
  case all
  /// Pushes of these kinds are not sent, as the ledger's `push_type` names them; at least one.
  case only(Set<String>)

  /// The reason in the ledger of a push that would have been sent.
  package static let reason = "shadow"

  package func covers(_ kind: String) -> Bool {
    switch self {
    case .none: false
    case .all: true
    case .only(let kinds): kinds.contains(kind)
    }
  }

  /// A sentence for operators; nil when all is sent.
  package var notice: String? {
    switch self {
    case .none: nil
    case .all: "SHADOW is true: pushes are recorded, none is sent"
    case .only(let kinds):
      "SHADOW is set: pushes of the kinds \(kinds.sorted().joined(separator: ", ")) are recorded, none of them is sent"
    }
  }
}
