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
  init(_ wire: WireBook, _ enqueuedAt: [String: Int64]) {
    self.enqueuedAt = enqueuedAt
    for (place, arrivals) in wire.accepted {
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

  /// The newest that it has been shown in one notification.
  func newest(at device: String, under collapseID: String) -> Message? {
    shown[Line(device: device, collapseID: collapseID)]?.newest
  }
}
