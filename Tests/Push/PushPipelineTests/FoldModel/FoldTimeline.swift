import PushRules
import TestIDs
import TestRandomness

/// One conversation with one recipient: what happens in it, at random.
struct FoldTimeline {
  enum Action: Equatable {
    case post(Int)
    case mention(Int)
    case read
    case look
    case leave
  }

  /// Between two steps the virtual clock advances; in each there are some transactions.
  static let beats = 3
  static let messagesMax = 40

  let id = HostID.new()
  let sender = HostID.new()
  let reader = HostID.new()
  let token: String
  let messages = (0..<messagesMax).map { _ in HostID.new() }
  private let actions: [[Action?]]

  init(number: Int, steps: Int, seed: UInt64) {
    var generator = SeededGenerator(seed: seed, part: number)
    var posted = 0
    func action(_ chance: Int) -> Action? {
      if posted < Self.messagesMax, chance < 55 {
        posted += 1
        return chance < 4 ? .mention(posted - 1) : .post(posted - 1)
      }
      return [55: .read, 56: .look, 57: .look, 58: .leave, 59: .leave][chance]
    }
    actions = (0..<steps).map { step in
      // Bursts, and silence between them.
      let isBusy = (step / 3).isMultiple(of: 2) != (number.isMultiple(of: 2))
      return (0..<Self.beats).map { _ in
        let chance = Int.random(in: 0..<100, using: &generator)
        return isBusy || chance >= 55 ? action(chance) : nil
      }
    }
    let digits = String(number, radix: 16)
    token = String(repeating: "0", count: 8 - digits.count) + digits
  }

  func action(step: Int, beat: Int) -> Action? { actions[step][beat] }

  var preparation: String {
    """
    insert into public.profiles (id, name) values ('\(sender)', 'Ann'), ('\(reader)', 'Bob');
    insert into public.conversations (id) values ('\(id)');
    insert into public.conversation_participants (conversation_id, user_id) values ('\(id)', '\(sender)'), ('\(id)', '\(reader)');
    insert into public.push_tokens (user_id, device_token) values ('\(reader)', '\(token)');
    """
  }

  /// What a host would write, with its semicolon.
  func sql(for action: Action) -> String {
    switch action {
    case .post(let number): posting(number, "\(number)")
    case .mention(let number): posting(number, "\(number) @Bob")
    case .read:
      """
      update public.messages set read_by = array['\(reader)']::uuid[]
      where conversation_id = '\(id)' and read_by = '{}';
      """
    case .look: reporting("last_seen")
    case .leave: reporting("tacet_left_at")
    }
  }

  private func posting(_ number: Int, _ text: String) -> String {
    """
    insert into public.messages (id, conversation_id, from_id, text)
    values ('\(messages[number])', '\(id)', '\(sender)', '\(text)');
    """
  }

  private func reporting(_ column: String) -> String {
    """
    update public.conversation_participants set \(column) = clock_timestamp()
    where conversation_id = '\(id)' and user_id = '\(reader)';
    """
  }
}
