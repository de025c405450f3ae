import Testing

/// The notifications on the devices' screens, and which messages each has shown. With bursts several messages share one.
struct LineBook {
  struct Line: Hashable {
    let device: String
    let collapseID: String?
  }

  /// A message, in the order of its conversation: by its commit as the service knows it, then by its id.
  struct Message: Comparable {
    let enqueuedAt: Int64
    let id: String

    static func < (one: Self, other: Self) -> Bool {
      one.enqueuedAt == other.enqueuedAt ? one.id < other.id : one.enqueuedAt < other.enqueuedAt
    }
  }

  struct Shown {
    /// The newest message that it has shown.
    fileprivate(set) var newest: Message
    /// The one that came last, and is there in the end.
    fileprivate(set) var last: Message
    fileprivate(set) var lastArrival: WireBook.Arrival
  }

  private(set) var shown: [Line: Shown] = [:]
  private var newest: [String: Message] = [:]
  private let enqueuedAt: [String: Int64]

  /// - Parameter enqueuedAt: by message.
  init(_ accepted: [WireBook.Place: [WireBook.Arrival]], _ enqueuedAt: [String: Int64]) {
    self.enqueuedAt = enqueuedAt
    for (place, arrivals) in accepted {
      for arrival in arrivals { add(arrival, of: message(place.message), at: place.device) }
    }
  }

  func message(_ id: String) -> Message { Message(enqueuedAt: enqueuedAt[id] ?? 0, id: id) }

  private mutating func add(_ arrival: WireBook.Arrival, of message: Message, at device: String) {
    newest[device] = max(newest[device] ?? message, message)
    let line = Line(device: device, collapseID: arrival.collapseID)
    var state = shown[line] ?? Shown(newest: message, last: message, lastArrival: arrival)
    state.newest = max(state.newest, message)
    if state.lastArrival.at < arrival.at { (state.last, state.lastArrival) = (message, arrival) }
    shown[line] = state
  }

  /// The newest message that a device has been shown. A device is one person's, who is in one conversation.
  func newest(at device: String) -> Message? { newest[device] }
}

@Suite("The notifications on the screens")
struct LineBookTests {
  /// Messages of one conversation, a before b before c, with a collapse identifier and the times of their acceptances at one device.
  private func book(_ pushes: (message: String, collapseID: String, at: [Int64])...) -> LineBook {
    let accepted = pushes.map { push in
      let arrivals = push.at.map {
        WireBook.Arrival(at: $0, answeredAt: $0, identifier: push.message, collapseID: push.collapseID)
      }
      return (WireBook.Place(device: "d", message: push.message), arrivals)
    }
    return LineBook(Dictionary(uniqueKeysWithValues: accepted), ["a": 1, "b": 2, "c": 2])
  }

  @Test("show what came last, whatever is newer")
  func order() throws {
    let inOrder = book(("a", "a", [10]), ("b", "a", [20]), ("c", "c", [30]))
    let burst = try #require(inOrder.shown[.init(device: "d", collapseID: "a")])
    #expect(inOrder.shown.count == 2 && burst.last == burst.newest && burst.last.id == "b")
    #expect(inOrder.newest(at: "d")?.id == "c")
    #expect(inOrder.newest(at: "e") == nil)
    // The older one was accepted once more, after the newer.
    let backwards = book(("a", "a", [10, 40]), ("b", "a", [20]))
    let outdated = try #require(backwards.shown[.init(device: "d", collapseID: "a")])
    #expect(outdated.last.id == "a" && outdated.lastArrival.at == 40 && outdated.newest.id == "b")
    // Of one commit the id decides.
    #expect(backwards.message("b") < backwards.message("c") && backwards.message("a") < backwards.message("b"))
  }
}
