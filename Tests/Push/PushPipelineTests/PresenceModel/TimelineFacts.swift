/// What is true in one conversation, from its actions alone. Times are virtual microseconds.
struct TimelineFacts {
  struct Member {
    let devices: Int
    var isIn: Bool
    var lastSeen: Int64?
    var leftAt: Int64?
    /// Kept when the group is left, unlike the rest.
    var lookedLast: Int64?
    var leftGroupLast: Int64?
  }

  struct Message {
    let author: Int
    let arrivedAt: Int64
    var touchedAt: Int64
    var readers: Set<Int> = []
    var isDeleted = false
  }

  private(set) var members: [Member]
  private(set) var messages: [Int: Message] = [:]

  init(_ plan: [PlannedMember]) {
    members = plan.map { Member(devices: $0.devices, isIn: $0.isInFromTheStart) }
  }

  /// The newest message of the conversation but this one.
  func newestOther(than message: Int) -> Message? {
    messages.filter { $0.key != message && !$0.value.isDeleted }.max { $0.value.arrivedAt < $1.value.arrivedAt }?.value
  }

  mutating func apply(_ action: HostAction, at time: Int64) {
    switch action {
    case .post(let message, let author):
      messages[message] = Message(author: author, arrivedAt: time, touchedAt: time)
    case .look(let user) where members[user].isIn:
      members[user].lastSeen = time
      members[user].lookedLast = time
    case .leaveScreen(let user) where members[user].isIn:
      members[user].leftAt = time
    case .read(let user, let read, let touches):
      for message in read where messages[message]?.readers.contains(user) == false {
        note(user, message, touches, time)
      }
    case .edit(let message):
      messages[message]?.touchedAt = time
    case .delete(let message):
      messages[message]?.isDeleted = true
    case .join(let user) where !members[user].isIn:
      members[user].isIn = true
    case .leaveGroup(let user):
      leaveGroup(user, time)
    case .look, .leaveScreen, .join:
      break
    }
  }

  private mutating func note(_ reader: Int, _ message: Int, _ touches: Bool, _ time: Int64) {
    messages[message]?.readers.insert(reader)
    if touches { messages[message]?.touchedAt = time }
  }

  /// Whoever comes back is as new as anybody.
  private mutating func leaveGroup(_ user: Int, _ time: Int64) {
    members[user].isIn = false
    members[user].lastSeen = nil
    members[user].leftAt = nil
    members[user].leftGroupLast = time
  }
}
