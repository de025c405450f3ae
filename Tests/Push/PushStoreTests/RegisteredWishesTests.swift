import Foundation
import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("What registrations say of content and language")
struct RegisteredWishesTests {
  private static let (key, newKey) = (String(repeating: "A", count: 43), String(repeating: "B", count: 42) + "A")

  private func register(
    _ chat: Chat, _ token: String = "aa01", of user: HostID? = nil, content: String? = nil, key: String? = nil,
    locale: String? = nil, devicesMax: Int = 10
  ) async throws {
    var device = RegisteredDevice(token: token)
    (device.content, device.sealingKey, device.locale) = (content, key, locale)
    let outcome = try await withStore(chat.database) { [device] in
      try await $0.register(device, of: user ?? chat.reader, devicesMax: devicesMax, on: $1)
    }
    #expect(outcome == .registered)
  }

  private func registerTarget(
    _ chat: Chat, _ channel: String, of user: HostID? = nil, keys: String? = nil, content: String? = nil,
    key: String? = nil, locale: String? = nil
  ) async throws {
    var target = RegisteredTarget(PushTarget(DeliveryChannel(rawValue: channel), address: "x", keys: keys))
    (target.content, target.sealingKey, target.locale) = (content, key, locale)
    target.fetchDigest = "digest"
    _ = try await withStore(chat.database) { [target] in
      try await $0.register(target, of: user ?? chat.reader, targetsMax: 10, on: $1)
    }
  }

  /// The members that the next claim brings of a reader's device or target, sorted by their names.
  private func members(_ chat: Chat, of user: HostID? = nil, _ channel: String = "apns") async throws -> String {
    try await chat.database.sql(
      """
      select string_agg(m.key || '=' || m.value, ' ' order by m.key)
      from tacet.push_targets('\(user ?? chat.reader)') t, jsonb_each_text(t.keys::jsonb) m
      where t.channel = '\(channel)'
      """)
  }

  @Test("they come with every claim, and what a later one does not say stays")
  func kept() async throws {
    let chat = try await Chat()
    try await register(chat)
    #expect(try await members(chat) == "")
    #expect(try await chat.database.sql("select count(*) from tacet.target_wishes") == "0")
    try await register(chat, content: "sealed", key: Self.key, locale: "de-AT")
    try await chat.send()
    let target = try #require(try await claim(chat.database).first?.recipients.first?.targets.first)
    #expect(target.keys?.contains("de-AT") == true)
    #expect(try await members(chat) == "content=sealed locale=de-AT sealing_key=\(Self.key)")
    try await register(chat)
    #expect(try await members(chat) == "content=sealed locale=de-AT sealing_key=\(Self.key)")
    try await register(chat, key: Self.newKey)
    #expect(try await members(chat) == "content=sealed locale=de-AT sealing_key=\(Self.newKey)")
  }

  @Test("a host's spelling of the token does not matter")
  func spelling() async throws {
    let chat = try await Chat()
    try await register(chat, "abcd", content: "none")
    try await chat.database.sql("update push_tokens set device_token = 'ABCD'")
    #expect(try await members(chat) == "content=none")
  }

  @Test("they go with the user's session, with the device, and with a change of its user")
  func gone() async throws {
    let chat = try await Chat(readers: 2)
    func rows() async throws -> String {
      try await chat.database.sql("select string_agg(address, ' ' order by address) from tacet.target_wishes")
    }
    try await register(chat, content: "none")
    try await register(chat, of: chat.readers[1])
    #expect(try await members(chat, of: chat.readers[1]) == "")
    #expect(try await rows() == "")
    try await register(chat, content: "none")
    _ = try await withStore(chat.database) { try await $0.removeDevice("aa01", of: chat.readers[1], on: $1) }
    #expect(try await rows() == "aa01")
    _ = try await withStore(chat.database) { try await $0.removeDevice("aa01", of: chat.reader, on: $1) }
    #expect(try await rows() == "")
    for token in ["aa01", "aa02", "aa03"] { try await register(chat, token, content: "none", devicesMax: 2) }
    #expect(try await rows() == "aa02 aa03")
    try await chat.database.sql("select tacet.drop_dead_token('aa03', 'Unregistered', now())")
    #expect(try await rows() == "aa02")
    try await chat.database.sql("select tacet.drop_dead_token('aa02', 'Unregistered', now() - interval '1 hour')")
    #expect(try await rows() == "aa02")
  }

  @Test("Android apps and browsers have them beside their keys", arguments: ["fcm", "web_push"])
  func targets(_ channel: String) async throws {
    let chat = try await Chat(readers: 2)
    let keys = channel == "fcm" ? nil : #"{"p256dh":"p","auth":"a"}"#
    let own = keys == nil ? "" : " p256dh=p"
    let before = keys == nil ? "" : "auth=a "
    try await registerTarget(chat, channel, keys: keys, content: "none", key: Self.key, locale: "de")
    #expect(try await members(chat, channel) == "\(before)content=none locale=de\(own) sealing_key=\(Self.key)")
    try await registerTarget(chat, channel, keys: keys, locale: "fr")
    #expect(try await members(chat, channel) == "\(before)content=none locale=fr\(own) sealing_key=\(Self.key)")
    try await registerTarget(chat, channel, of: chat.readers[1], keys: keys)
    #expect(try await members(chat, of: chat.readers[1], channel) == (before + own).replacing("  ", with: " ").trimmed)
  }

  @Test("a browser's next subscription has what was said of the one before")
  func renewed() async throws {
    let chat = try await Chat()
    try await registerTarget(chat, "web_push", keys: #"{"p256dh":"p","auth":"a"}"#, content: "sender", locale: "de")
    var next = RegisteredTarget(
      PushTarget(DeliveryChannel(rawValue: "web_push"), address: "y", keys: #"{"p256dh":"q","auth":"b"}"#))
    next.fetchDigest = "next"
    let isRenewed = try await withStore(chat.database) { [next] in
      try await $0.renew(next, replacing: "digest", targetsMax: 10, on: $1)
    }
    #expect(isRenewed)
    #expect(try await members(chat, "web_push") == "auth=b content=sender locale=de p256dh=q")
  }

  @Test("the user's choice concerns all devices, also those that the host has registered, until it is taken back")
  func preference() async throws {
    let chat = try await Chat()
    try await chat.register("aa01")
    try await registerTarget(chat, "fcm", key: Self.key)
    func put(_ content: ContentChoice?) async throws {
      let preferences = UserPreferences(content: content)
      #expect(try await withStore(chat.database) { try await $0.put(preferences, of: chat.reader, on: $1) })
      #expect(try await withStore(chat.database) { try await $0.preferences(of: chat.reader, on: $1) } == preferences)
    }
    try await put(.sealed)
    #expect(try await members(chat) == "user_content=sealed")
    #expect(try await members(chat, "fcm") == "sealing_key=\(Self.key) user_content=sealed")
    try await put(nil)
    #expect(try await members(chat) == "")
    #expect(try await members(chat, "fcm") == "sealing_key=\(Self.key)")
  }
}

extension String {
  fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) }
}
