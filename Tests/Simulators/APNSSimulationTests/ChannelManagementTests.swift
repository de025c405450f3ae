import Testing

@testable import APNSSimulation

@Suite("Channel management and its faults")
struct ChannelManagementTests {
  private static let create = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#

  @Test("a channel is created, listed, read and deleted")
  func life() throws {
    let stand = ActivityStand()
    let created = try #require(try stand.manage("POST", "channels", Self.create).verdict)
    let channel = try #require(created.issuedChannel)
    #expect(created.status == 201 && ChannelName.isIdentifier(channel) && channel.count == 24)
    #expect(created.fields.contains { $0.name == "apns-channel-id" && $0.value == channel })
    let list = try stand.manage("GET", "all-channels").verdict
    #expect(list.map { String(decoding: $0.body, as: UTF8.self) } == #"{"channels":["\#(channel)"]}"#)
    let read = try stand.manage("GET", "channels", channel: channel).verdict
    #expect(read.map { String(decoding: $0.body, as: UTF8.self) } == Self.create)
    #expect(try stand.manage("DELETE", "channels", channel: channel).verdict?.status == 204)
    #expect(try stand.manage("GET", "channels", channel: channel).verdict?.reason == "ChannelNotRegistered")
    #expect(try stand.manage("DELETE", "channels", channel: channel).verdict?.reason == "BadPath")
  }

  @Test(
    "bodies are refused by their mistake",
    arguments: [
      ("", "BadRequestPayload"), ("[]", "BadRequestPayload"), ("null", "BadRequestPayload"),
      (#"{"message-storage-policy":1,"push-type":1}"#, "InvalidPushType"),
      (#"{"message-storage-policy":1,"push-type":"liveactivity"}"#, "InvalidPushType"),
      (#"{"message-storage-policy":2,"push-type":"LiveActivity"}"#, "MissingChannelQueueSize"),
      (#"{"message-storage-policy":"1","push-type":"LiveActivity"}"#, "MissingChannelQueueSize"),
      (create + String(repeating: " ", count: 4096), "PayloadTooLarge"),
    ])
  func bodies(_ body: String, reason: String) throws {
    #expect(try ActivityStand().manage("POST", "channels", body).verdict?.reason == reason)
  }

  @Test(
    "other paths and methods are unknown",
    arguments: [
      ("PUT", "channels"), ("POST", "all-channels"), ("DELETE", "all-channels"), ("GET", "channels/x"), ("GET", ""),
    ])
  func paths(_ method: String, _ path: String) throws {
    let verdict = try ActivityStand().manage(method, path).verdict
    #expect(verdict?.status == 404 && verdict?.reason == "BadPath")
  }

  @Test(
    "the line of a request tells what it is about",
    arguments: [
      ("POST", "/3/device/00", RequestTarget.device), ("GET", "/", .device),
      ("POST", "/4/broadcasts/apps/a.b", .broadcast(bundle: "a.b")),
      ("GET", "/4/broadcasts/apps/a", .unknown(.broadcast)),
      ("POST", "/4/broadcasts/apps/", .unknown(.broadcast)), ("POST", "/4/broadcasts/apps/a/b", .unknown(.broadcast)),
      ("POST", "/1/apps/a/channels", .create(bundle: "a")), ("GET", "/1/apps/a/channels", .read(bundle: "a")),
      ("DELETE", "/1/apps/a/channels", .delete(bundle: "a")), ("GET", "/1/apps/a/all-channels", .list(bundle: "a")),
      ("GET", "/1/apps//all-channels", .unknown(.management)), ("GET", "/1/appsx", .unknown(.management)),
    ])
  func targets(_ method: String, _ path: String, target: RequestTarget) {
    #expect(RequestTarget(InspectedRequest(method: method, path: path, fields: [], body: [])) == target)
  }

  @Test("a scripted answer replaces the effect; a lost one does not")
  func faults() throws {
    let stand = ActivityStand()
    let scripted = ScriptedAnswer(status: 503, reason: "Service Unavailable")
    stand.service.withFaults { script in
      script.append(.init(.answer(scripted)))
      script.append(.init(.dropAfterProcessing))
      script.append(.init(.refuseStream))
    }
    #expect(try stand.manage("POST", "channels", Self.create).verdict?.status == 503)
    #expect(channels(stand).isEmpty)
    #expect(try stand.manage("POST", "channels", Self.create).fault == .dropAfterProcessing)
    #expect(channels(stand).count == 1)
    #expect(try stand.manage("POST", "channels", Self.create).verdict == nil)
    #expect(stand.service.channelRequests.records.map(\.status) == [503, 201] && stand.service.unprocessed == 1)
    #expect(stand.service.metFaults.map(\.token) == [nil, nil, nil])
  }

  @Test("a scripted answer keeps a broadcast and a push from the screens")
  func faultsOfPushes() throws {
    let stand = ActivityStand()
    let channel = try #require(stand.service.createChannel(.newest, of: ActivityStand.owner))
    stand.service.subscribe(to: ChannelName(channel, of: ActivityStand.owner))
    let update = #""timestamp":\#(ActivityStand.seconds),"event":"update","content-state":{}"#
    stand.service.withFaults { script in
      _ = script.append(.init(.answer(ScriptedAnswer(status: 429, reason: "TooManyRequests")), times: 2))
    }
    #expect(try stand.broadcast(update, to: channel).verdict?.status == 429)
    #expect(try stand.begin()?.channel == channel && stand.activities.count == 1)
    #expect(stand.activities.map(\.history.count) == [0])
    #expect(try stand.broadcast(update, to: channel).verdict?.uniqueIdentifier != nil)
    #expect(stand.activities.map(\.history.count) == [1])
  }

  @Test("management is no push: it is recorded apart, newest last")
  func records() throws {
    let stand = ActivityStand()
    _ = try stand.manage("POST", "channels", Self.create)
    _ = try stand.manage("GET", "channels")
    #expect(stand.service.withLog { $0.total } == 0)
    let log = stand.service.channelRequests
    #expect(log.total == 2 && log.records.map(\.method) == ["POST", "GET"])
    #expect(log.records.map(\.reason) == [nil, "MissingChannelId"] && log.records[0].channel != nil)
  }

  private func channels(_ stand: ActivityStand) -> [String] {
    stand.service.withRegistry { $0.channels.identifiers(of: ActivityStand.owner) }
  }
}
