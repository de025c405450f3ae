import TestRandomness

/// The conversations of a run. Where a recipient's presence must be known exactly, each message has a conversation of
/// its own; the others go on for the whole run.
struct HostRooms {
  /// Somebody with one device and somebody with two, both away.
  let quiet: [Room]
  /// Somebody who looks, and somebody who is away.
  let watched: [Room]
  /// Fifty recipients.
  let group: Room

  init() {
    quiet = (0..<4).map { _ in Room([HostRecipient(.away), HostRecipient(.away, devices: 2)]) }
    watched = (0..<3).map { _ in Room([HostRecipient(.looking), HostRecipient(.away)]) }
    let people = (0..<50).map { number in
      HostRecipient(number < 4 ? .tokenless : number < 8 ? .hasRead : .away)
    }
    group = Room(people)
  }

  var lasting: [Room] { quiet + watched + [group] }

  /// One transaction of the host.
  struct Turn {
    let messages: [HostMessage]
    /// Written with the messages.
    var newRoom: Room?
    /// Rolled back instead of committed: nobody may ever hear of it.
    var isTakenBack = false
  }

  func next(using generator: inout SeededGenerator) -> Turn {
    switch Int.random(in: 0..<100, using: &generator) {
    case ..<26: turn(in: quiet.randomElement(using: &generator))
    case ..<28: turn(in: quiet.randomElement(using: &generator), messages: 20)
    case ..<44: turn(in: watched.randomElement(using: &generator))
    case ..<49: turn(in: group)
    case ..<61: alone(.glimpsing)
    case ..<72: alone(.leaving, devices: 2, .leave)
    case ..<83: alone(.reading, .read)
    case ..<89: alone(.glimpsing, .delete)
    case ..<93: alone(.away, .delete)
    case ..<97: alone(.away, isTakenBack: true)
    default: alone(.tokenless)
    }
  }

  private func turn(in room: Room?, messages count: Int = 1) -> Turn {
    Turn(messages: (0..<count).map { _ in HostMessage(in: room ?? group) })
  }

  private func alone(
    _ situation: Situation, devices: Int = 1, _ followUp: HostMessage.FollowUp? = nil, isTakenBack: Bool = false
  ) -> Turn {
    let room = Room([HostRecipient(situation, devices: devices)])
    return Turn(messages: [HostMessage(in: room, followUp: followUp)], newRoom: room, isTakenBack: isTakenBack)
  }
}
