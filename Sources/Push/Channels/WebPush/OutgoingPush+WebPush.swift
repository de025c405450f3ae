internal import FoundationEssentials
package import PushRules

extension WebPushNotification {
  /// The notification that says what an alert says to an iPhone.
  /// - Throws: `notificationIncomplete` when there is no text to show.
  package init(_ alert: AlertPayload, of push: OutgoingPush, links: WebPushLinks) throws(WebPushError) {
    var data = alert.custom
    data["push_log_id"] = .string(push.logID.lowercased)
    let image = data["image_url"]?.text
    data["image_url"] = nil
    let title = alert.title?.words ?? ""
    let lines = [alert.subtitle?.words, alert.body?.words].compactMap { $0?.isEmpty == false ? $0 : nil }
    try self.init(
      title: title.isEmpty ? lines.first ?? "" : title, link: links.link(for: alert.custom),
      body: lines.isEmpty || title.isEmpty && lines.count == 1 ? nil : lines.joined(separator: "\n"),
      tag: push.push.collapseIdentifier.text, language: push.push.locale?.text, badge: push.badge, image: image,
      isSilent: alert.sound == nil,
      // What replaces others says something new. The same push once more, after an answer was lost, does not.
      alertsAgain: push.replacesOthers, data: data)
  }
}

/// A push that takes notifications away which were read elsewhere: `{"web_push":8030,"tacet":{"clear":["<tag>"],"app_badge":2}}`.
///
/// The worker shows one of the remaining notifications again without a sound, or a quiet line, because browsers end subscriptions
/// whose pushes show nothing.
struct WebPushClearing {
  private let tags: [PayloadValue]
  private let badge: Int?

  /// Nil for a push that only wakes the app: browsers fetch.
  init?(_ custom: PayloadObject, badge: Int?) {
    guard custom["type"]?.text == "read", case .array(let ids)? = custom["message_ids"] else { return nil }
    // The newest come first.
    tags = Array(ids.prefix(40))
    self.badge = badge
  }

  func encoded() -> [UInt8] {
    JSONBytes.document(reservingBytes: 2048) { json in
      json.append(member: "web_push", integer: 8030)
      var tacet: PayloadObject = ["clear": .array(tags)]
      if let badge { tacet["app_badge"] = .integer(Int64(badge)) }
      json.append(name: "tacet")
      json.append(object: tacet)
    }
  }
}

extension PayloadValue {
  fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
}
