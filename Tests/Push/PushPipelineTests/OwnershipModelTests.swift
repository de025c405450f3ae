import PushRules
import PushStore
import TestRandomness
import Testing

/// The protocol of owned conversations, without a database: who may write what when, and what each death leaves behind. Owners decide
/// with the real rules of bursts; the tables, the leases and the network are the model's.
@Suite("The model of owned conversations")
struct OwnershipModelTests {
  @Test(
    "owners that are killed, stopped and replaced, late commits and jumps of the clock: nothing lost, nothing ended twice"
  )
  func schedules() {
    var (messages, blemishes) = (0, [String]())
    for seed in 0..<40 {
      var world = OwnershipWorld(seed: UInt64(seed), owners: 2 + seed % 3)
      for _ in 0..<3000 { world.step() }
      world.comeToRest()
      #expect(world.violations == [], "seed \(seed)")
      #expect(world.inbox.isEmpty && world.putOff.isEmpty, "seed \(seed)")
      #expect(world.ledger.count == world.posted, "seed \(seed)")
      #expect(world.kills > 10 && world.takeOvers > 20, "the schedule is too quiet")
      messages += world.posted
      blemishes += world.blemishes.map { "seed \(seed): \($0)" }
    }
    print("model of owners: 120,000 steps, \(messages) messages, \(blemishes.count) blemishes")
    #expect(blemishes.count * 1000 < messages, "\(blemishes)")
  }
}

private struct OwnershipWorld {
  static let shards = 4
  static let conversations = 6
  static let lateConversation = 5
  static let lease: Int64 = 5_000_000
  static let margin: Int64 = 500_000
  static let workLease: Int64 = 3_600_000_000
  static let policy = FoldPolicy(window: .seconds(20))

  /// A row of the inbox, or of what was put off.
  struct Row {
    let message: BurstMessage
    let conversation: Int
    var availableAt: Int64
    var attempts = 0
    var isClaimed = false

    var shard: Int { conversation % OwnershipWorld.shards }
  }

  struct LedgerRow {
    var isShown: Bool
    var decision: FoldDecision
    let first: BurstMessage
    let begunAt: Int64
    let more: Int
    let message: BurstMessage
    let conversation: Int
  }

  struct Decided {
    let row: Row
    let isPutOff: Bool
    let result: Result
    let fold: LedgerRow

    enum Result { case sent, folded, refused }
  }

  struct Push {
    let row: Row
    let isPutOff: Bool
    let fold: LedgerRow
    /// When its process had taken the shard.
    let epoch: Int64
  }

  struct Waiting {
    let row: Row
    let isPutOff: Bool
    let candidate: BurstCandidate
    let epoch: Int64
  }

  final class Owner {
    let id: Int
    var isStopped = false
    var isLeaving = false
    var shards: Set<Int> = []
    var leaving: Set<Int> = []
    var since: Int64 = 0
    var epochs: [Int: Int64] = [:]
    /// By the monotonic clock.
    var ownedUntil: Int64 = 0
    /// Whether a former owner's messages may wait.
    var hasLeftOver = false
    var held: Set<HostID> = []
    var bursts: [Int: MessageBurst] = [:]
    var known: Set<Int> = []
    var waiting: [Int: [Waiting]] = [:]
    var inFlight: [Push] = []
    var decided: [Decided] = []

    init(id: Int) { self.id = id }

    func hasWork(of shard: Int) -> Bool {
      waiting.contains { $0.key % OwnershipWorld.shards == shard && !$0.value.isEmpty }
        || inFlight.contains { $0.row.shard == shard } || decided.contains { $0.row.shard == shard }
    }
  }

  // The database.
  var inbox: [HostID: Row] = [:]
  var putOff: [HostID: Row] = [:]
  var ledger: [HostID: LedgerRow] = [:]
  private var uncommitted: [Row] = []
  private var owner: [Int?]
  private var takenAt: [Int64]
  private var leases: [Int: Int64] = [:]
  private var clock: Int64 = 1_000_000_000

  private(set) var violations: [String] = []
  /// What a screen shows for a moment that it should not: an older text, or a message in two notifications. It takes a jump of the clock
  /// backwards, or a push of a former owner that arrives late, and the death of the owner that knows.
  private(set) var blemishes: [String] = []
  private(set) var posted = 0
  private(set) var kills = 0
  private(set) var takeOvers = 0
  /// Messages whose last row is gone.
  private var ended: Set<HostID> = []
  private var monotonic: Int64 = 0
  private var isResting = false
  private var owners: [Owner] = []
  private var nextOwner = 0
  private let ownersMax: Int
  /// By conversation, the message of each notification on the screen.
  private var screen: [Int: [HostID: BurstMessage]]
  private var notification: [HostID: HostID] = [:]
  private var generator: SeededGenerator

  init(seed: UInt64, owners count: Int) {
    generator = SeededGenerator(seed: seed)
    owner = Array(repeating: nil, count: Self.shards)
    takenAt = Array(repeating: 0, count: Self.shards)
    screen = [:]
    ownersMax = count
    for _ in 0..<count { start() }
  }

  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

  private mutating func start() {
    owners.append(Owner(id: nextOwner))
    nextOwner += 1
  }

  mutating func step() {
    let time = Int64.random(in: 0...(chance(3) ? 3_000_000 : 50_000), using: &generator)
    pass(time)
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<22: post()
    case 22..<26: commitLate()
    case 26: clock += Int64.random(in: -3_000_000...3_000_000, using: &generator)
    case 27: kill()
    case 28: stopOrContinue()
    case 29: leave()
    case 30..<32: if owners.count < ownersMax { start() }
    default: work()
    }
  }

  /// Leaves one owner, and lets all be done.
  mutating func comeToRest() {
    isResting = true
    while !uncommitted.isEmpty { commitLate(all: true) }
    for owner in owners {
      owner.isStopped = false
      owner.isLeaving = false
    }
    if owners.isEmpty { start() }
    for _ in 0..<20_000 where !(inbox.isEmpty && putOff.isEmpty) {
      pass(Int64.random(in: 0...300_000, using: &generator))
      work()
    }
    for (conversation, notifications) in screen {
      let messages = notifications.values.map(\.id)
      if Set(messages).count < messages.count {
        blemishes.append("conversation \(conversation) shows a message twice")
      }
    }
  }

  /// Time goes on; what does not renew in time loses its lease.
  private mutating func pass(_ time: Int64) {
    clock += time
    monotonic += time
  }

  // MARK: The host

  private mutating func post() {
    posted += 1
    let row = Row(
      message: BurstMessage(enqueuedAt: clock, id: HostID(text: "m\(posted)")),
      conversation: Int.random(in: 0..<Self.conversations, using: &generator), availableAt: clock)
    // Of one conversation some commit late: another owner, who sees more of them, may begin the burst with another one.
    if row.conversation == Self.lateConversation, chance(20) {
      uncommitted.append(row)
    } else {
      inbox[row.message.id] = row
    }
  }

  private mutating func commitLate(all: Bool = false) {
    while let place = uncommitted.indices.randomElement(using: &generator) {
      let row = uncommitted.remove(at: place)
      inbox[row.message.id] = row
      if !all { return }
    }
  }

  // MARK: Processes

  private mutating func kill() {
    guard let place = owners.indices.randomElement(using: &generator) else { return }
    kills += 1
    let owner = owners.remove(at: place)
    // What is on its way may arrive.
    for push in owner.inFlight where chance(50) { arrive(push, from: nil) }
  }

  private mutating func stopOrContinue() {
    guard let owner = owners.randomElement(using: &generator) else { return }
    owner.isStopped.toggle()
  }

  private mutating func leave() { owners.randomElement(using: &generator)?.isLeaving = true }

  private mutating func work() {
    guard let owner = owners.randomElement(using: &generator), !owner.isStopped else { return }
    // Records follow answers within milliseconds, but for a process that dies or is stopped between them.
    if chance(70) { record(by: owner) }
    switch Int.random(in: 0..<10, using: &generator) {
    case 0..<2: renew(owner)
    case 2..<4: claim(by: owner)
    case 4: claimLeftOver(by: owner)
    case 5..<8: answer(to: owner)
    default: record(by: owner)
    }
    if owner.isLeaving, (0..<Self.shards).allSatisfy({ !owner.hasWork(of: $0) }) {
      leases[owner.id] = nil
      for shard in 0..<Self.shards where self.owner[shard] == owner.id { self.owner[shard] = nil }
      owners.removeAll { $0 === owner }
    }
  }

  /// `tacet.hold_shards`, and what the process makes of it.
  private mutating func renew(_ process: Owner) {
    let askedAt = monotonic
    // The call takes a moment.
    pass(Int64.random(in: 0...20_000, using: &generator))
    for shard in process.leaving where !process.hasWork(of: shard) && owner[shard] == process.id { owner[shard] = nil }
    leases[process.id] = clock + Self.lease
    let living = leases.filter { $0.value > clock }.keys.sorted()
    let place = living.firstIndex(of: process.id) ?? 0
    let share = Self.shards / living.count + (place < Self.shards % living.count ? 1 : 0)
    var owned = (0..<Self.shards).filter { owner[$0] == process.id }
    for shard in 0..<Self.shards where owned.count < share && owner[shard] != process.id {
      guard owner[shard].map({ leases[$0, default: 0] <= clock }) ?? true else { continue }
      if owner[shard] != nil { release(shard) }
      owner[shard] = process.id
      takenAt[shard] = clock
      takeOvers += 1
      owned.append(shard)
    }
    process.leaving = Set(owned.sorted().dropFirst(share))
    process.shards = Set(owned).subtracting(process.leaving)
    let former = process.epochs
    process.epochs = Dictionary(uniqueKeysWithValues: owned.map { ($0, takenAt[$0]) })
    process.ownedUntil = askedAt + Self.lease - Self.margin
    let since = process.shards.map { takenAt[$0] }.max() ?? 0
    guard since != process.since else { return }
    process.since = since
    process.hasLeftOver = true
    for conversation in process.known
    where former[conversation % Self.shards] != process.epochs[conversation % Self.shards]
      && process.waiting[conversation, default: []].isEmpty && process.bursts[conversation]?.inFlight == nil
    {
      process.known.remove(conversation)
      process.bursts[conversation] = nil
    }
  }

  /// What a dead owner had leased becomes available at once.
  private mutating func release(_ shard: Int) {
    for (id, row) in inbox where row.shard == shard && row.isClaimed {
      inbox[id]?.availableAt = min(row.availableAt, clock)
    }
    for (id, row) in putOff where row.shard == shard && row.isClaimed {
      putOff[id]?.availableAt = min(row.availableAt, clock)
    }
  }

  private func mayClaim(_ process: Owner) -> Bool {
    monotonic < process.ownedUntil && !process.isLeaving && !process.shards.isEmpty
  }

  /// `claim_messages`: nothing is written.
  private mutating func claim(by process: Owner) {
    guard mayClaim(process), !process.hasLeftOver else { return }
    let rows = inbox.values.filter {
      process.shards.contains($0.shard) && $0.attempts == 0 && !$0.isClaimed && $0.availableAt <= clock
        && $0.availableAt > process.since && !process.held.contains($0.message.id)
    }
    // A process may be stopped between its claim and the answer.
    if !isResting, chance(10) { stopOrContinue() }
    var touched: Set<Int> = []
    for row in rows.sorted(by: { $0.message < $1.message }) {
      process.held.insert(row.message.id)
      add(row, isPutOff: false, to: process, &touched)
    }
    for conversation in touched.sorted() { decide(conversation, by: process) }
  }

  /// `claim`: what is left is leased, with an attempt.
  private mutating func claimLeftOver(by process: Owner) {
    guard mayClaim(process) else { return }
    let hadLeftOver = process.hasLeftOver
    process.hasLeftOver = false
    func isDue(_ row: Row) -> Bool {
      process.shards.contains(row.shard) && row.availableAt <= clock && !process.held.contains(row.message.id)
    }
    func isLeft(_ row: Row) -> Bool {
      isDue(row) && (hadLeftOver || row.isClaimed || row.attempts > 0 || row.availableAt <= process.since)
    }
    func leased(_ row: Row) -> Row {
      var row = row
      row.attempts += 1
      row.isClaimed = true
      row.availableAt = clock + Self.workLease
      return row
    }
    var touched: Set<Int> = []
    for row in inbox.values.filter(isLeft).sorted(by: { $0.message < $1.message }) {
      let row = leased(row)
      inbox[row.message.id] = row
      add(row, isPutOff: false, to: process, &touched)
    }
    for row in putOff.values.filter(isDue).sorted(by: { $0.message < $1.message }) {
      let row = leased(row)
      putOff[row.message.id] = row
      add(row, isPutOff: true, to: process, &touched)
    }
    for conversation in touched.sorted() { decide(conversation, by: process) }
  }

  // MARK: Decisions

  private func add(_ row: Row, isPutOff: Bool, to process: Owner, _ touched: inout Set<Int>) {
    let candidate = BurstCandidate(row.message, decidedAt: clock, isPutOff: isPutOff)
    process.waiting[row.conversation, default: []].append(
      Waiting(row: row, isPutOff: isPutOff, candidate: candidate, epoch: process.epochs[row.shard, default: -1]))
    touched.insert(row.conversation)
  }

  private mutating func decide(_ conversation: Int, by process: Owner) {
    if process.known.insert(conversation).inserted { process.bursts[conversation] = burst(in: conversation) }
    goOn(conversation, by: process)
  }

  /// What the ledger knows of the conversation.
  private func burst(in conversation: Int) -> MessageBurst? {
    var known: MessageBurst?
    for row in ledger.values.filter({ $0.conversation == conversation }).sorted(by: { $0.message < $1.message }) {
      var burst =
        known.flatMap { $0.first == row.first ? $0 : nil } ?? MessageBurst(first: row.first, begunAt: row.begunAt)
      burst.learn(
        row.message, isShown: row.isShown, sounds: row.decision == .sound, begunAt: row.begunAt, more: row.more)
      known = burst
    }
    return known
  }

  private mutating func goOn(_ conversation: Int, by process: Owner) {
    var waiting = process.waiting[conversation, default: []]
    var isForgotten = false
    var candidates = waiting.map(\.candidate)
    for (message, decision) in Self.policy.decide(&candidates, of: &process.bursts[conversation]) {
      guard let place = waiting.firstIndex(where: { $0.candidate.message == message }),
        let burst = process.bursts[conversation]
      else { continue }
      let item = waiting.remove(at: place)
      let fold = LedgerRow(
        isShown: false, decision: decision, first: burst.place, begunAt: burst.begunAt, more: burst.more,
        message: message,
        conversation: conversation)
      // Another process may have it by now.
      guard
        item.row.attempts > 0
          || monotonic < process.ownedUntil && process.epochs[item.row.shard] == item.epoch
      else {
        process.held.remove(message.id)
        process.bursts[conversation]?.answered(message, isShown: false)
        isForgotten = true
        continue
      }
      if decision == .fold {
        process.decided.append(Decided(row: item.row, isPutOff: item.isPutOff, result: .folded, fold: fold))
      } else {
        process.inFlight.append(Push(row: item.row, isPutOff: item.isPutOff, fold: fold, epoch: item.epoch))
      }
    }
    process.waiting[conversation] = waiting
    if isForgotten { goOn(conversation, by: process) }
  }

  private mutating func answer(to process: Owner) {
    guard let place = process.inFlight.indices.randomElement(using: &generator) else { return }
    let push = process.inFlight.remove(at: place)
    let isShown = isResting || chance(90)
    if isShown { arrive(push, from: process) }
    process.decided.append(
      Decided(row: push.row, isPutOff: push.isPutOff, result: isShown ? .sent : .refused, fold: push.fold))
    process.bursts[push.row.conversation]?.answered(push.row.message, isShown: isShown)
    goOn(push.row.conversation, by: process)
  }

  /// A device has it. What a former owner had on its way may come late.
  private mutating func arrive(_ push: Push, from process: Owner?) {
    let (message, place) = (push.row.message, push.fold.first.id)
    guard push.row.conversation != Self.lateConversation else { return }
    if let other = notification.updateValue(place, forKey: message.id), other != place {
      blemishes.append("\(message.id) is shown in the notifications of \(other) and \(place)")
    }
    if let shown = screen[push.row.conversation]?[place], message < shown, let process,
      process.id == owner[push.row.shard],
      takenAt[push.row.shard] == push.epoch
    {
      blemishes.append("the text of \(place) goes back from \(shown.id) to \(message.id)")
    }
    screen[push.row.conversation, default: [:]][place] = message
  }

  /// `record`: the row is deleted by who claimed it last, and nobody else.
  private mutating func record(by process: Owner) {
    let batch = process.decided
    process.decided = []
    for decided in batch {
      let id = decided.row.message.id
      process.held.remove(id)
      let row = decided.isPutOff ? putOff[id] : inbox[id]
      let isOurs = row?.attempts == decided.row.attempts && row?.isClaimed == (decided.row.attempts > 0)
      guard isOurs else {
        // A push that was sent is on the books whoever sent it.
        if decided.result == .sent, ledger[id]?.isShown == false { ledger[id]?.isShown = true }
        continue
      }
      if decided.isPutOff { putOff[id] = nil } else { inbox[id] = nil }
      var entry = decided.fold
      entry.isShown = decided.result == .sent
      if decided.result != .refused, !ended.insert(id).inserted { violations.append("\(id) is ended twice") }
      ledger[id] = entry
      if decided.result == .refused {
        var again = decided.row
        again.isClaimed = false
        again.attempts = 0
        again.availableAt = clock + 200_000
        putOff[id] = again
      }
    }
  }
}
