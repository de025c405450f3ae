import Testing

@testable import APNSSimulation

@Suite("Broadcast channels")
struct ChannelTests {
  private static let live = "AAECAwQFBgcICQoLDA0ODw=="
  private static let name = ChannelName(live, of: ActivityStand.owner)
  private static let day: Int64 = ActivityStand.seconds + 86_400

  @Test("a start with a channel follows it, without an update token, and broadcasts reach it")
  func subscription() throws {
    let stand = ActivityStand()
    stand.service.createChannel(.nothing, identifier: Self.live, of: ActivityStand.owner)
    let activity = try #require(try stand.begin(#""input-push-channel":"\#(Self.live)""#))
    #expect(activity.channel == Self.live && activity.token == nil)
    #expect(stand.service.renewToken(of: activity.identifier) == nil)
    #expect(try stand.broadcast(update(2), to: Self.live).verdict?.status == 200)
    #expect(stand.activities.first?.state?.text == #"{"eta":2}"#)
    #expect(try stand.broadcast(#""timestamp":\#(ActivityStand.seconds),"event":"end""#, to: Self.live).number == 3)
    #expect(stand.activities.first?.endedAt(stand.now) == stand.now)
    #expect(stand.service.withActivities { $0.subscribers(of: Self.name, at: stand.now) } == 0)
  }

  @Test("thousands of subscribers are one activity with a count")
  func crowd() throws {
    let stand = ActivityStand()
    stand.service.createChannel(.nothing, identifier: Self.live, of: ActivityStand.owner)
    #expect(stand.service.subscribe(100_000, to: Self.name) != nil)
    #expect(stand.service.subscribe(to: Self.name, device: "phone") != nil)
    #expect(stand.service.subscribe(to: ChannelName("AAAA", of: ActivityStand.owner)) == nil)
    _ = try stand.broadcast(update(3), to: Self.live)
    #expect(stand.activities.map(\.subscribers) == [100_000, 1])
    #expect(stand.activities.allSatisfy { $0.state?.text == #"{"eta":3}"# && $0.history.count == 1 })
    #expect(stand.service.withActivities { $0.subscribers(of: Self.name, at: stand.now) } == 100_001)
    #expect(stand.service.withRegistry { $0.channels[Self.name]?.messages } == 1)
  }

  @Test(
    "a channel that stores gives its newest message to later subscribers, up to its expiration and for eight hours",
    arguments: [
      (SimulatedChannel.StoragePolicy.newest, Self.day, Int64(28_799), true), (.newest, Self.day, 28_800, false),
      (.newest, ActivityStand.seconds + 60, 59, true), (.newest, ActivityStand.seconds + 60, 60, false),
      (.newest, 0, 0, false), (.newest, Int64.max, 28_799, true), (.newest, Int64.max, 28_800, false),
      (.nothing, 0, 0, false),
    ])
  func storage(policy: SimulatedChannel.StoragePolicy, expiration: Int64, later: Int64, isShown: Bool) throws {
    let stand = ActivityStand()
    stand.service.createChannel(policy, identifier: Self.live, of: ActivityStand.owner)
    _ = try stand.broadcast(update(4), to: Self.live, expiration: expiration)
    _ = try stand.broadcast(update(5), to: Self.live, expiration: expiration)
    stand.advance(seconds: later)
    stand.service.subscribe(to: Self.name)
    #expect(stand.activities.first?.state?.text == (isShown ? #"{"eta":5}"# : nil))
    #expect(stand.activities.first?.history.entries.map(\.push) == (isShown ? [2] : []))
  }

  @Test("a broadcast that starts or says nothing is counted, noticed and shown nowhere")
  func undeliverable() throws {
    let stand = ActivityStand()
    stand.service.createChannel(.newest, identifier: Self.live, of: ActivityStand.owner)
    stand.service.subscribe(to: Self.name)
    #expect(try stand.broadcast("\(timestamp),\(ActivityStand.start)", to: Self.live).verdict?.status == 200)
    #expect(try stand.broadcast("", to: Self.live).verdict?.status == 200)
    #expect(stand.drops == [.broadcastStart: 1, .noEvent: 1] && stand.service.lint.counts[.broadcastStart] == 1)
    #expect(stand.activities.map(\.history.count) == [0])
  }

  @Test("the same identifier of another app or environment is another channel")
  func owners() throws {
    let stand = ActivityStand()
    stand.service.createChannel(
      .nothing, identifier: Self.live, of: .init(environment: .sandbox, bundle: ActivityStand.bundle))
    stand.service.createChannel(
      .nothing, identifier: Self.live, of: .init(environment: .production, bundle: "com.example.else"))
    #expect(try stand.broadcast(update(1), to: Self.live).verdict?.reason == "BadChannelId")
    _ = try stand.begin(#""input-push-channel":"\#(Self.live)""#)
    #expect(stand.drops == [.badChannel: 1])
  }

  @Test("an app may have 10,000 channels, and remembers as many deleted ones")
  func bounds() {
    var book = ChannelBook()
    let names = (0...ChannelBook.channelsMax).map { ChannelName("c\($0)", of: ActivityStand.owner) }
    let added = names.map { book.add(SimulatedChannel(policy: .nothing), as: $0) }
    #expect(added.dropLast().allSatisfy { $0 } && added.last == false && book.isFull(ActivityStand.owner))
    let isReplaced = book.add(SimulatedChannel(policy: .newest), as: names[0])
    let deleted = names.map { book.delete($0) }
    #expect(isReplaced && deleted.dropLast().allSatisfy { $0 } && deleted.last == false)
    #expect(!book.isFull(ActivityStand.owner))
    #expect(book.standing(of: names[0]) == .deleted && book.standing(of: names.last ?? names[0]) == .neverIssued)
    book.add(SimulatedChannel(policy: .nothing), as: ChannelName("more", of: ActivityStand.owner))
    book.delete(ChannelName("more", of: ActivityStand.owner))
    #expect(book.standing(of: names[0]) == .neverIssued && book.standing(of: names[1]) == .deleted)
  }

  @Test(
    "identifiers are standard base64 of a possible length",
    arguments: [
      ("AAAA", true), (live, true), ("A+/=", true), ("AA==", true), ("AA-_", false), ("AAA", false), ("", false),
      ("!!!", false), (String(repeating: "A", count: 256), true), (String(repeating: "A", count: 260), false),
    ])
  func identifiers(_ text: String, isIdentifier: Bool) {
    #expect(ChannelName.isIdentifier(text) == isIdentifier)
  }

  private var timestamp: String { #""timestamp":\#(ActivityStand.seconds)"# }

  private func update(_ eta: Int) -> String { #"\#(timestamp),"event":"update","content-state":{"eta":\#(eta)}"# }
}
