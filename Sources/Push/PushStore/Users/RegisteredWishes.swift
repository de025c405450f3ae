internal import FoundationEssentials
internal import PushRules

/// What a registration says of content and language, as `PushTarget.keys` brings it back with every claim.
struct RegisteredWishes {
  private let members: PayloadObject

  init(content: String?, sealingKey: String?, locale: String?) {
    var members: PayloadObject = [:]
    members["content"] = content.map { .string($0) }
    members["sealing_key"] = sealingKey.map { .string($0) }
    members["locale"] = locale.map { .string($0) }
    self.members = members
  }

  /// A JSON object; empty for a registration that says nothing of it.
  var json: String { String(decoding: members.encoded(), as: UTF8.self) }

  /// A channel's keys with these members; nil when there are neither.
  func added(to keys: String?) -> String? {
    guard !members.members.isEmpty else { return keys }
    var all = keys.flatMap { try? JSONDecoder().decode(PayloadObject.self, from: Data($0.utf8)) } ?? [:]
    for (name, value) in members.members { all[name] = value }
    return String(decoding: all.encoded(), as: UTF8.self)
  }
}

extension RegisteredDevice {
  var wishes: RegisteredWishes { RegisteredWishes(content: content, sealingKey: sealingKey, locale: locale) }
}

extension RegisteredTarget {
  var wishes: RegisteredWishes { RegisteredWishes(content: content, sealingKey: sealingKey, locale: locale) }
}
