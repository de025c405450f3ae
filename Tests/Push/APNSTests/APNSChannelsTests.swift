import APNSCore
import HTTP2
import Reactors
import TestReactors
import Testing

@testable import APNS

@Suite("The management of channels")
struct APNSChannelsTests {
  @Test(
    "a channel is created with its storage policy, and has the identifier of the answer",
    arguments: ChannelStorage.allCases)
  func create(storage: ChannelStorage) async throws {
    try await Management.run { scene, reactor in
      scene.apns.reply = { _ in .created("AAEC/+==") }
      let channel = try await scene.channels.create(
        in: scene.app, of: .production, storage: storage, on: reactor)
      #expect(channel.text == "AAEC/+==")
      let request = try #require(scene.apns.requests.first?.request)
      #expect(request.method == "POST" && request.path == "/1/apps/com.example.app/channels")
      #expect(
        String(decoding: request.body, as: UTF8.self)
          == #"{"message-storage-policy":\#(storage.rawValue),"push-type":"LiveActivity"}"#)
      #expect(
        scene.fields(0) == [
          "authorization": scene.tokens.current.authorization, "content-type": "application/json",
        ])
    }
  }

  @Test(
    "what APNs says of a channel is its storage policy",
    arguments: [
      (#"{"message-storage-policy":0,"push-type":"LiveActivity"}"#, ChannelStorage.nothing),
      (#"{"push-type":"LiveActivity","message-storage-policy":1,"more":[]}"#, .newest),
    ])
  func storage(document: String, expected: ChannelStorage) async throws {
    try await Management.run { scene, reactor in
      scene.apns.reply = { _ in .answer(200, document) }
      let storage = try await scene.channels.storage(
        of: scene.channel, in: scene.app, of: .production, on: reactor)
      #expect(storage == expected)
      let request = try #require(scene.apns.requests.first?.request)
      #expect(request.method == "GET" && request.path == "/1/apps/com.example.app/channels" && request.body.isEmpty)
      #expect(
        scene.fields(0) == [
          "authorization": scene.tokens.current.authorization, "apns-channel-id": scene.channel.text,
        ])
    }
  }

  @Test(
    "a channel that is deleted, or is not there any more, is gone",
    arguments: [(204, ""), (404, #"{"reason":"BadPath"}"#), (400, #"{"reason":"ChannelNotRegistered"}"#)])
  func delete(status: Int, body: String) async throws {
    try await Management.run { scene, reactor in
      scene.apns.reply = { _ in .answer(status, body) }
      try await scene.channels.delete(scene.channel, in: scene.app, of: .production, on: reactor)
      let request = try #require(scene.apns.requests.first?.request)
      #expect(request.method == "DELETE" && request.path == "/1/apps/com.example.app/channels")
      #expect(request.fields["apns-channel-id"] == scene.channel.text)
    }
  }

  @Test(
    "another refusal of a deletion is an error", arguments: [(404, ""), (400, #"{"reason":"BadPath"}"#), (500, "")])
  func undeleted(status: Int, body: String) async throws {
    try await Management.run { scene, reactor in
      scene.apns.reply = { _ in .answer(status, body) }
      let error = await scene.failure(of: .delete, on: reactor)
      #expect(error?.status == status && error?.isOutcomeUnknown == false)
    }
  }

  @Test("all channels are listed in APNs' order, as many as an app may have", arguments: [0, 1, 10_000])
  func list(count: Int) async throws {
    try await Management.run { scene, reactor in
      let names = (0..<count).map { "AAAAAAAAAAAAAAAA" + "\(10_000_000 + $0)" }
      let listed = names.map { "\"\($0)\"" }.joined(separator: ",")
      scene.apns.reply = { _ in .answer(200, #"{"channels":[\#(listed)]}"#) }
      let channels = try await scene.channels.list(in: scene.app, of: .production, on: reactor)
      #expect(channels.map(\.text) == names)
      let request = try #require(scene.apns.requests.first?.request)
      #expect(request.method == "GET" && request.path == "/1/apps/com.example.app/all-channels")
    }
  }

  @Test(
    "a list that cannot be one is refused",
    arguments: [
      "", "[]", "{}", #"{"channels":{}}"#, #"{"channels":[1]}"#, #"{"channels":["!!!!"]}"#,
      #"{"channels":["\#(String(repeating: "A", count: 516))"]}"#,
      #"{"channels":[\#(Array(repeating: #""AAAA""#, count: 10_001).joined(separator: ","))]}"#,
    ])
  func badList(document: String) async throws {
    try await Management.run { scene, reactor in
      scene.apns.reply = { _ in .answer(200, document) }
      let error = await scene.failure(of: .list, on: reactor)
      #expect(error?.reason == "apns_answer_unreadable")
    }
  }

  @Test("an answer beyond the longest list is not read to its end")
  func longList() async throws {
    try await Management.run { scene, reactor in
      let document = String(repeating: " ", count: ChannelDocument.listBytesMax + 1)
      scene.apns.reply = { _ in .answer(200, document) }
      let error = await scene.failure(of: .list, on: reactor)
      #expect(error?.reason == "apns_answer_lost")
      #expect(error?.description.contains("responseTooLarge") == true)
    }
  }

  @Test(
    "a policy that is not known is not guessed",
    arguments: ["", "{}", #"{"message-storage-policy":2}"#, #"{"message-storage-policy":"1"}"#])
  func badStorage(document: String) async throws {
    try await Management.run { scene, reactor in
      scene.apns.reply = { _ in .answer(200, document) }
      let error = await scene.failure(of: .storage, on: reactor)
      #expect(error?.reason == "apns_answer_unreadable")
    }
  }
}
