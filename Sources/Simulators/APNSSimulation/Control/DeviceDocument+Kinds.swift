internal import HTTP1
internal import SimulationControl

extension DeviceDocument {
  enum KindText: String, Codable, CaseIterable {
    case device
    case pushToStart = "push_to_start"
    case update
  }

  mutating func show(_ kind: TokenKind) {
    switch kind {
    case .device: break
    case .pushToStart(let type, let allowsUpdates):
      (self.kind, attributesType, self.allowsUpdates) = (.pushToStart, type, allowsUpdates)
    case .update(let activity, let type):
      (self.kind, self.activity) = (.update, activity)
      attributesType = type.isEmpty ? nil : type
    }
  }

  /// - Throws: `ProblemDetails` that names a missing member, or one of another kind.
  func tokenKind() throws(ProblemDetails) -> TokenKind {
    let kind = kind ?? .device
    if kind != .update, activity != nil { throw Self.stray("activity", kind) }
    if kind != .pushToStart, allowsUpdates != nil { throw Self.stray("allows_updates", kind) }
    switch kind {
    case .device:
      if attributesType != nil { throw Self.stray("attributes_type", kind) }
      return .device
    case .pushToStart:
      let type = try Self.needed("attributes_type", attributesType)
      return .pushToStart(attributesType: type, allowsUpdates: allowsUpdates)
    case .update:
      return .update(activity: try Self.needed("activity", activity), attributesType: attributesType ?? "")
    }
  }

  private static func stray(_ member: String, _ kind: KindText) -> ProblemDetails {
    ProblemDetails.unfit("\(member) means nothing to a token of kind \(kind.rawValue)")
  }

  private static func needed(_ name: String, _ text: String?) throws(ProblemDetails) -> String {
    guard let text, !text.isEmpty else { throw ProblemDetails.unfit("\(name) is missing") }
    return text
  }
}
