/// A push that makes the system reload what the app shows outside itself.
///
/// It carries no data: extensions are asked for what they show anew, and never see the push. Sources: "Updating widgets
/// with WidgetKit push notifications" and "Updating controls locally and remotely" (Apple).
public enum ReloadPayload: PushPayload, CaseIterable {
  /// The timelines of the app's widgets.
  case widgets
  /// The state of the app's controls.
  case controls

  /// ``PushType/widgets`` or ``PushType/controls``.
  public var pushType: PushType {
    switch self {
    case .widgets: .widgets
    case .controls: .controls
    }
  }

  /// The JSON document as sent: `{"aps":{"content-changed":true}}`.
  public func encoded() -> [UInt8] {
    JSONBytes.document(reservingBytes: 32) { json in
      json.append(member: "aps") { json in
        json.append(name: "content-changed")
        json.append(value: true)
      }
    }
  }
}
