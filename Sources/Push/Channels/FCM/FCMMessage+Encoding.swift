internal import PushRules

extension FCMMessage {
  private static let secondsMax: Int64 = 2_419_200

  /// The content of a request: UTF-8, no spaces, members in a fixed order.
  /// - Parameter isTrial: whether FCM only checks the message and delivers nothing.
  /// - Throws: as ``fitted(to:)``, which it calls.
  package func encoded(isTrial: Bool = false) throws(FCMMessageError) -> [UInt8] {
    let message = try fitted()
    return JSONBytes.document(reservingBytes: 1024) { json in
      if isTrial {
        json.append(name: "validate_only")
        json.append(literal: "true")
      }
      json.append(member: "message") { message.append(to: &$0) }
    }
  }

  private func append(to json: inout JSONBytes) {
    json.append(member: "token", text: token)
    let common = texts.prefix { $0.isCommon }
    if presentation == .notification, !common.isEmpty {
      json.append(member: "notification") { Self.append(common, to: &$0) }
    }
    let data = sentData
    if !data.isEmpty { json.append(member: "data") { Self.append(data, to: &$0) } }
    json.append(member: "android") { json in
      json.append(member: "priority", text: priority.rawValue)
      json.append(member: "ttl", text: "\(min(max(timeToLive.components.seconds, 0), Self.secondsMax))s")
      json.append(member: "collapse_key", text: collapseKey)
      let own = texts.drop { $0.isCommon }
      guard presentation == .notification, !own.isEmpty else { return }
      json.append(member: "notification") { Self.append(own, to: &$0) }
    }
  }

  private static func append(_ texts: ArraySlice<ShownText>, to json: inout JSONBytes) {
    for shown in texts {
      if let list = shown.list {
        json.append(member: shown.name, texts: list)
      } else if shown.isNumber {
        json.append(member: shown.name, integer: Int64(shown.text))
      } else {
        json.append(member: shown.name, text: shown.text)
      }
    }
  }

  /// In the order of the names, so that equal data gives equal bytes.
  private static func append(_ data: [String: String], to json: inout JSONBytes) {
    for (name, text) in data.sorted(by: { $0.key < $1.key }) {
      json.appendComma()
      json.append(string: name)
      json.append(literal: ":")
      json.append(string: text)
    }
  }

  /// What is shown and how, without empty texts: first the members of `notification`, then those of
  /// `android.notification`.
  var texts: [ShownText] {
    let count = badge.flatMap { $0 > 0 ? "\(min($0, Int(Int32.max)))" : nil }
    // A device that gets words takes no key. Data has both, because the app chooses.
    let isData = presentation == .dataOnly
    let all = [
      ShownText(name: "title", text: titleKey == nil || isData ? title ?? "" : "", isCommon: true),
      ShownText(name: "body", text: bodyKey == nil || isData ? body ?? "" : "", isCommon: true),
      ShownText(name: "image", text: image ?? "", isCommon: true), ShownText(name: "tag", text: tag ?? ""),
      ShownText(name: "title_loc_key", text: titleKey?.name ?? ""),
      ShownText(name: "title_loc_args", list: titleKey?.arguments ?? []),
      ShownText(name: "body_loc_key", text: bodyKey?.name ?? ""),
      ShownText(name: "body_loc_args", list: bodyKey?.arguments ?? []),
      ShownText(name: "channel_id", text: channelIdentifier ?? ""),
      ShownText(name: "notification_count", text: count ?? "", isNumber: true),
    ]
    return all.filter { !$0.text.isEmpty }
  }

  /// The data as sent; of a data-only message with the texts.
  var sentData: [String: String] {
    guard presentation == .dataOnly else { return data.members }
    let own = FCMData(renaming: data.members, occupied: Self.textNames).members
    return own.merging(texts.map { ("\($0.name)", $0.text) }) { $1 }
  }

  private static let textNames: Set<String> = [
    "title", "body", "image", "tag", "channel_id", "notification_count", "title_loc_key", "title_loc_args",
    "body_loc_key", "body_loc_args",
  ]
}

struct ShownText {
  let name: StaticString
  let text: String
  /// Whether it is a member of `notification`; otherwise only of `android.notification`.
  var isCommon = false
  var isNumber = false
  /// The texts of a list, which ``text`` has as JSON; nil for a single one.
  var list: [String]?

  init(name: StaticString, text: String, isCommon: Bool = false, isNumber: Bool = false) {
    self.name = name
    self.text = text
    self.isCommon = isCommon
    self.isNumber = isNumber
  }

  init(name: StaticString, list: [String]) {
    let document = JSONBytes.document(reservingBytes: 64) { $0.append(member: "", texts: list) }
    self.init(name: name, text: list.isEmpty ? "" : String(decoding: document.dropFirst(4).dropLast(), as: UTF8.self))
    self.list = list
  }
}
