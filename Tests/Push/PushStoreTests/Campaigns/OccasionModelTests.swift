import Foundation
import PushRules
import TestIDs
import TestRandomness
import Testing

@testable import PushStore

/// What each event makes of each state; a point means no change. As rows, shown is armed and denied is skipped.
struct OccasionTable: Sendable {
  private static let text = """
    event     scheduled armed     shown     denied    cancelled sent      delivered opened skipped failed
    rendered  scheduled scheduled .         scheduled scheduled .         .         .      .       .
    moved     scheduled scheduled .         denied    .         .         .         .      .       .
    armed     armed     armed     .         .         .         .         .         .      .       .
    disarmed  .         scheduled scheduled .         .         .         .         .      .       .
    denied    denied    denied    .         .         .         .         .         .      .       .
    off       cancelled cancelled .         cancelled .         .         .         .      .       .
    pushed    sent      sent      .         .         .         .         .         .      .       .
    shown     shown     shown     .         .         .         .         .         .      .       .
    refused   skipped   skipped   .         .         .         skipped   .         .      .       .
    failed    failed    failed    .         .         .         failed    .         .      .       .
    recalled  .         .         .         .         .         cancelled .         .      .       .
    delivered .         .         delivered .         .         delivered .         .      .       .
    opened    opened    opened    opened    .         .         opened    opened    .      .       .
    """

  let states: [String]
  let events: [String]
  private let cells: [String: [String: String]]

  init() throws {
    let rows = Self.text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    states = Array(try #require(rows.first).dropFirst())
    var cells: [String: [String: String]] = [:]
    for row in rows.dropFirst() {
      cells[row[0]] = Dictionary(uniqueKeysWithValues: zip(states, row.dropFirst()).filter { $0.1 != "." })
    }
    self.cells = cells
    events = cells.keys.sorted()
  }

  func state(after event: String, in state: String) -> String? { cells[event]?[state] }
}

@Suite("The states of an occasion", .uuidsOnly)
struct OccasionStateTests {
  @Test("are what the table says, for each event")
  func table() async throws {
    let table = try OccasionTable()
    #expect(table.states.count == 10 && table.events.count == 13)
    let database = try await TestDatabase.migrated()
    for event in table.events {
      let list = table.states.map { "coalesce(tacet.occasion_after('\($0)', '\(event)'), '')" }.joined(separator: ", ")
      let found = try await database.sql("select concat_ws('|', \(list))")
      let expected = table.states.map { table.state(after: event, in: $0) ?? "" }.joined(separator: "|")
      #expect(found == expected, "\(event)")
    }
  }

  @Test(
    "are those of the table in random schedules of everything that can happen to an occasion, and it has one push",
    arguments: 1...4)
  func schedules(seed: UInt64) async throws {
    let table = try OccasionTable()
    let scene = try await SlotReportScene()
    try await scene.database.sql(OccasionEvent.preparation(of: scene.user))
    for part in 0..<25 {
      var model = OccasionModel(table, SeededGenerator(seed: seed, part: part))
      var (events, expected): ([OccasionEvent], [String]) = ([], [])
      for _ in 0..<60 {
        let event = model.next()
        model.meet(event)
        events.append(event)
        expected.append(model.description)
        try #require(model.pushes <= 1)
      }
      let script = events.map { "\($0.call(of: scene.user));\n\(OccasionEvent.shown);" }.joined(separator: "\n")
      let found = try await scene.database.sql("begin;\n\(script)\nrollback").split(separator: "\n").map(String.init)
      try #require(found.count == expected.count)
      guard let wrong = zip(found, expected).enumerated().first(where: { $0.element.0 != $0.element.1 }) else {
        continue
      }
      Issue.record(
        """
        seed \(seed), part \(part): \(events.prefix(wrong.offset + 1)): \
        found \(wrong.element.0), expected \(wrong.element.1)
        """)
      return
    }
  }

  @Test("are as if one of two events at the same time had come first", arguments: 1...4)
  func overlaps(seed: UInt64) async throws {
    let table = try OccasionTable()
    let scene = try await SlotReportScene()
    let user = scene.user
    try await scene.database.sql(OccasionEvent.preparation(of: user))
    try await withTwoSessions(scene.database) { first, second, reactor in
      for part in 0..<60 {
        var before = OccasionModel(table, SeededGenerator(seed: seed, part: part))
        try await first.run(OccasionEvent.reset(user), on: reactor)
        var events: [OccasionEvent] = []
        for _ in 0..<part % 12 + 1 {
          let event = before.next()
          try await first.run(event.call(of: user), on: reactor)
          before.meet(event)
          events.append(event)
        }
        let pair = [before.next(), before.next()]
        try await first.run("begin; \(pair[0].call(of: user))", on: reactor)
        let later = Begun.begin(on: reactor) { try await second.run(pair[1].call(of: user), on: reactor) }
        // It ends, or waits for the first.
        while !later.isFinished,
          try await first.value("cardinality(pg_blocking_pids(\(second.processID)))", on: reactor) == "0"
        {}
        try await first.run("commit", on: reactor)
        try await later.value(on: reactor)
        let found = try await first.value("(\(OccasionEvent.shown))", on: reactor)
        // What was read of a slot that has changed since is not rendered.
        let written = pair.filter { if case .rendered = $0 { false } else { true } }
        let expected = [pair, pair.reversed(), written].map { events in
          var model = before
          events.forEach { model.meet($0) }
          return model.description
        }
        #expect(
          expected.contains(found ?? ""), "seed \(seed), part \(part): \(events), then \(pair[0]) beside \(pair[1])")
      }
    }
  }
}

/// What can happen to an occasion, and the statements by which it does.
enum OccasionEvent {
  case on, off, left
  case campaignOff
  case rendered(String)
  case moved(String)
  /// A device has armed it, or taken that back, at this second.
  case armed(String, Int)
  case disarmed(String, Int)
  /// All devices may show nothing, or something again.
  case denied(Bool)
  /// The second device is gone, or there.
  case device(Bool)
  /// Its kind is disabled, or enabled.
  case preference(Bool)
  /// Its time comes: it is claimed and committed. A process that is killed has claimed it before, and its commit comes too late. A user
  /// may open what a device shows, before the commit.
  case due(refusal: String?, isKilled: Bool, isOpened: Bool)
  /// The pipeline takes the push, and is done with it.
  case claimed
  case recorded(String)
  case delivered, opened
  case action(String)

  static let zones = ["UTC", "Etc/GMT-9", "Etc/GMT+8"]
  static let tokens = ["aa", "bb"]

  /// A slot at noon, whose day is tomorrow: in no zone is it over.
  static func preparation(of user: HostID) -> String {
    """
    update tacet.campaigns set definition = jsonb_set(definition, '{category}', '{"id": "RITUAL", "actions": [
      {"id": "SNOOZE_30", "title": "Later", "foreground": false}, {"id": "DONE", "title": "Done", "foreground": false}]}'),
      on_action = null
    where name = 'ritual';
    create table tomorrow as select (now() at time zone 'UTC')::date + 1 as day;
    create view occasion as select d.* from tacet.occasions d, tomorrow t where d.slot = '1200' and d.fire_date = t.day;
    -- The occasion is due, and claimed so many times.
    create function tacet.fall(claims int) returns void language sql as $$
      update tacet.occasions d
      set fire_at = clock_timestamp() - interval '1 hour', available_at = clock_timestamp(), attempts = d.attempts + claims
      where d.slot = '1200' and d.fire_date = (select day from public.tomorrow) and d.status in ('scheduled', 'armed')
        and d.available_at < 'infinity'
    $$;
    \(reset(user));
    """
  }

  static func reset(_ user: HostID) -> String {
    """
    truncate tacet.occasions, tacet.slots, tacet.pushes, tacet.inbox, tacet.push_log, tacet.notif_events, tacet.device_permissions,
      tacet.preferences, tacet.schedules, tacet.cancellations cascade;
    insert into tacet.slots (next_fire_at, fire_date, available_at, is_chosen, user_id, campaign, slot, time_zone)
    select tacet.civil_instant(n.day + time '12:00', 'UTC'), n.day, now(), true, '\(user)', 'ritual', '1200', 'UTC' from public.tomorrow n;
    \(device(true, of: user))
    """
  }

  /// The state, the devices that have armed it, and the pushes that were sent.
  static let shown = """
    select format(
      '%s [%s] %s', coalesce(tacet.occasion_state(d), 'none'),
      array_to_string(array(select t from unnest(d.armed_by) t order by t), '+'),
      (select count(*) from tacet.push_log l where l.decision = 'sent'))
    from (select 1) one left join tacet.occasions d on d.slot = '1200' and d.fire_date = (select day from public.tomorrow)
    """

  private static func device(_ isThere: Bool, of user: HostID) -> String {
    isThere
      ? "insert into public.push_tokens (user_id, device_token) values ('\(user)', 'bb') on conflict do nothing"
      : "delete from public.push_tokens where user_id = '\(user)' and device_token = 'bb'"
  }

  func call(of user: HostID) -> String { "do $do$ begin \(statement(of: user)); end $do$" }

  private func statement(of user: HostID) -> String {
    switch self {
    case .on, .off:
      let isOn = if case .on = self { true } else { false }
      return
        "perform tacet.choose_slots('ritual', '\(user)', \(isOn), '[{\"slot\": \"1200\", \"is_enabled\": true}]', 'UTC', 0)"
    case .left: return "perform tacet.change_slots('ritual', '\(user)', null, 0)"
    case .campaignOff:
      return """
        update tacet.campaigns set is_active = false where name = 'ritual';
        perform tacet.settle_occasions('ritual', '\(user)', 'campaign_inactive');
        update tacet.campaigns set is_active = true where name = 'ritual'
        """
    case .rendered(let title):
      // A window is rendered of slots that are on, and of times to come.
      return """
        perform tacet.prepare_occasions('ritual', array[jsonb_populate_record(null::tacet.decided_occasion, to_jsonb(s)
          || jsonb_build_object(
            'fire_date', t.day, 'fire_at', tacet.civil_instant(t.day + time '12:00', s.time_zone), 'refusal',
            case when tacet.is_denied(s.user_id) then 'permission_denied' end)
          || '{"title": "\(title)", "body": "B", "category": "C", "data": {}}')], null)
        from tacet.slots s, public.tomorrow t
        where s.is_on and s.next_fire_at is not null
          and not exists (select from public.occasion d where d.fire_at <= clock_timestamp())
        """
    case .moved(let zone): return "perform tacet.change_slots('ritual', '\(user)', '\(zone)', 0)"
    case .armed(let token, let second):
      return report("armed", token, at: "t.day - interval '2 days' + interval '\(second) seconds'", user)
    case .disarmed(let token, let second):
      return report("cancelled", token, at: "t.day - interval '2 days' + interval '\(second) seconds'", user)
    case .denied(let isDenied):
      return Self.tokens.map {
        "perform tacet.note_device_permission('\(user)', '\($0)', \(isDenied), null, clock_timestamp())"
      }.joined(separator: "; ")
    case .device(let isThere): return Self.device(isThere, of: user)
    case .preference(let isDisabled):
      return isDisabled
        ? "insert into tacet.preferences (user_id, disabled_kinds) values ('\(user)', '{ritual}') on conflict do nothing"
        : "delete from tacet.preferences"
    case .due(let refusal, let isKilled, let isOpened):
      let commits = (isKilled ? ["d.attempts - 1"] : []) + ["d.attempts"]
      let opening = isOpened ? "\(report("opened", "aa", at: "clock_timestamp()", user));" : ""
      return "perform tacet.fall(\(commits.count)); \(opening)"
        + commits.map { attempts in
          """
          perform c.* from public.occasion d
          cross join lateral tacet.commit_occasions('ritual', 'auto', array[jsonb_populate_record(
            null::tacet.decided_occasion, to_jsonb(d)
              || jsonb_build_object('attempts', \(attempts), 'refusal', \(refusal.map { "'\($0)'" } ?? "null"))
              || '{"title": "T", "body": "B", "category": "C", "data": {}}')]) c
          where d.available_at < 'infinity'
          """
        }.joined(separator: "; ")
    case .claimed:
      return
        "update tacet.inbox i set is_claimed = true where i.subject_id in (select d.push_id from public.occasion d)"
    case .recorded(let decision):
      return """
        with taken as (delete from tacet.inbox i where i.is_claimed returning i.*)
        insert into tacet.push_log (user_id, subject_id, push_type, decision, reason)
        select '\(user)', i.subject_id, i.kind, '\(decision)', case '\(decision)' when 'sent' then null else 'expired' end from taken i
        """
    case .delivered: return report("delivered", "aa", at: "clock_timestamp()", user)
    case .opened: return report("opened", "aa", at: "clock_timestamp()", user)
    case .action(let action):
      return """
        perform tacet.report_slot_action('\(user)', gen_random_uuid(), '\(action)', 'ritual.1200.' || t.day, clock_timestamp())
        from public.tomorrow t
        """
    }
  }

  private func report(_ code: String, _ token: String, at moment: String, _ user: HostID) -> String {
    """
    perform tacet.report_slot_events('\(user)', array[gen_random_uuid()], '{\(code)}', array['ritual.1200.' || t.day],
      '{\(token)}', array['{}'], array[\(moment)])
    from public.tomorrow t
    """
  }
}

/// What an occasion is after random events.
struct OccasionModel: CustomStringConvertible {
  private let table: OccasionTable
  private var random: SeededGenerator
  private var count = 0
  /// Nil before it is rendered.
  private var state: String?
  private var armed: Set<String> = []
  /// Sent.
  private(set) var pushes = 0
  private var push = Push.none
  private var zone = "UTC"
  private var isOn = true
  private var hasSlot = true
  private var devices = Set(OccasionEvent.tokens)
  /// When each device has last armed it or taken that back.
  private var acknowledged: [String: Int] = [:]
  private var isDenied = false
  private var isDisabled = false
  /// Whether its time has come.
  private var isPast = false

  private enum Push { case none, waiting, claimed }

  init(_ table: OccasionTable, _ random: SeededGenerator) {
    (self.table, self.random) = (table, random)
  }

  var description: String { "\(state ?? "none") [\(armed.sorted().joined(separator: "+"))] \(pushes)" }

  /// An event, with weights by which every state is reached, also that of an occasion which all devices show.
  mutating func next() -> OccasionEvent {
    count += 1
    let token = OccasionEvent.tokens.randomElement(using: &random)!
    // Some are reported late.
    let second = count * 10 - (Int.random(in: 0..<4, using: &random) == 0 ? 35 : 0)
    switch count == 1 ? 3 : Int.random(in: 0..<42, using: &random) {
    case 0, 1: return .on
    case 2: return .off
    case 3...8: return .rendered("\(count)")
    case 9, 10: return .moved(OccasionEvent.zones.randomElement(using: &random)!)
    case 11: return .left
    case 12...19: return .armed(token, second)
    case 20, 21: return .disarmed(token, second)
    case 22: return .denied(true)
    case 23, 24: return .denied(false)
    case 25, 26:
      let refusals = [
        nil, nil, nil, "content_missing", "material_failed", "too_late", "day_over", "attempts_exhausted",
      ]
      return .due(
        refusal: refusals.randomElement(using: &random)!, isKilled: Bool.random(using: &random),
        isOpened: Int.random(in: 0..<4, using: &random) == 0)
    case 27: return .delivered
    case 28, 29: return .opened
    case 30: return .action("SNOOZE_30")
    case 31: return .action("DONE")
    case 32: return .campaignOff
    case 33: return .device(false)
    case 34, 35: return .device(true)
    case 36: return .preference(true)
    case 37: return .preference(false)
    case 38, 39: return .claimed
    default: return .recorded(["sent", "sent", "skipped", "failed"].randomElement(using: &random)!)
    }
  }

  mutating func meet(_ event: OccasionEvent) {
    switch event {
    case .on, .off:
      if case .on = event { isOn = true } else { isOn = false }
      hasSlot = isOn
      if !isOn { turnOff() }
    case .left:
      hasSlot = false
      turnOff()
    case .campaignOff: turnOff()
    case .rendered: render()
    case .moved(let next):
      if isOn { hasSlot = true }
      if next != zone, enter("moved"), state == "scheduled" { isPast = false }
      zone = next
    case .armed(let token, let second):
      guard isNews(token, second), !armed.contains(token), enter("armed") else { return }
      armed.insert(token)
    case .disarmed(let token, let second):
      guard isNews(token, second), ["armed", "shown"].contains(state), armed.remove(token) != nil, armed.isEmpty else {
        return
      }
      enter("disarmed")
    case .denied(let isDenied):
      self.isDenied = isDenied
      if isDenied { enter("denied") }
    case .device(let isThere): if isThere { devices.insert("bb") } else { devices.remove("bb") }
    case .preference(let isDisabled): self.isDisabled = isDisabled
    case .due(let refusal, _, let isOpened): fall(refusal, isOpened)
    case .claimed: if push == .waiting { push = .claimed }
    case .recorded(let decision): if push == .claimed { record(decision) }
    case .delivered: enter("delivered")
    case .opened, .action: open()
    }
  }

  /// Lets an event meet the state.
  @discardableResult
  private mutating func enter(_ event: String) -> Bool {
    guard let state, let next = table.state(after: event, in: state) else { return false }
    // Its time is over, so it stays so.
    self.state = next == "denied" && isPast ? "skipped" : next
    if ["rendered", "moved", "off", "denied"].contains(event) { armed = [] }
    return true
  }

  private mutating func turnOff() {
    if push == .waiting, ["sent", "delivered"].contains(state) { recall() }
    enter("off")
  }

  private mutating func recall() {
    push = .none
    enter("recalled")
  }

  private mutating func render() {
    guard hasSlot, !isPast else { return }
    if isDenied {
      enter("denied")
    } else if state == nil {
      state = "scheduled"
    } else {
      enter("rendered")
    }
  }

  /// Of what a device did the latest counts, and nothing of a device that is gone.
  private mutating func isNews(_ token: String, _ second: Int) -> Bool {
    let isLater = acknowledged[token].map { $0 <= second } ?? true
    if isLater { acknowledged[token] = second }
    return isLater && devices.contains(token)
  }

  private mutating func open() {
    guard isPast || !["scheduled", "armed"].contains(state) else { return }
    enter("opened")
    if state == "opened", push == .waiting { recall() }
  }

  private mutating func fall(_ refusal: String?, _ isOpened: Bool) {
    let isDue = ["scheduled", "armed"].contains(state)
    if isDue { isPast = true }
    if isOpened { open() }
    guard isDue, state != "opened" else { return }
    if !hasSlot {
      enter("off")
    } else if armed.isSuperset(of: devices), !isDenied {
      enter("shown")
    } else if let refusal {
      enter(["material_failed", "attempts_exhausted"].contains(refusal) ? "failed" : "refused")
    } else if isDenied || isDisabled {
      enter("refused")
    } else if enter("pushed") {
      push = .waiting
    }
  }

  private mutating func record(_ decision: String) {
    push = .none
    switch decision {
    case "sent": pushes += 1
    case "failed": enter("failed")
    default: enter("refused")
    }
  }
}
