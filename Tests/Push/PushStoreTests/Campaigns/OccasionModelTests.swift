import Foundation
import PushRules
import TestIDs
import TestRandomness
import TestRepository
import Testing

@testable import PushStore

/// What each event makes of each state, as `Sources/ARCHITECTURE.md` has it.
struct OccasionTable: Sendable {
  let states: [String]
  let events: [String]
  private let cells: [String: [String: String]]

  init() throws {
    let page = try Repository.text("Sources/ARCHITECTURE.md")
    let rows = page.split(separator: "\n").drop { !$0.hasPrefix("| event |") }.prefix { $0.hasPrefix("|") }.map { row in
      row.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map {
        $0.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
      }
    }
    states = Array(try #require(rows.first).dropFirst())
    var cells: [String: [String: String]] = [:]
    for row in rows.dropFirst(2) {
      cells[row[0]] = Dictionary(uniqueKeysWithValues: zip(states, row.dropFirst()).filter { !$0.1.isEmpty })
    }
    self.cells = cells
    events = cells.keys.sorted()
  }

  func state(after event: String, in state: String) -> String? { cells[event]?[state] }
}

@Suite("The states of an occasion", .uuidsOnly)
struct OccasionStateTests {
  @Test("are what the page about them says, for each event")
  func page() async throws {
    let table = try OccasionTable()
    #expect(table.states.count == 10 && table.events.count == 12)
    let database = try await TestDatabase.migrated()
    for event in table.events {
      let list = table.states.map { "coalesce(tacet.occasion_after('\($0)', '\(event)'), '')" }.joined(separator: ", ")
      let found = try await database.sql("select concat_ws('|', \(list))")
      let expected = table.states.map { table.state(after: event, in: $0) ?? "" }.joined(separator: "|")
      #expect(found == expected, "\(event)")
    }
  }

  @Test(
    "are those of the page in random schedules of everything that can happen to an occasion, and it has one push",
    arguments: 1...4)
  func schedules(seed: UInt64) async throws {
    let table = try OccasionTable()
    let scene = try await SlotReportScene()
    try await scene.database.sql(OccasionSchedule.preparation(of: scene.user))
    for part in 0..<50 {
      var schedule = OccasionSchedule(of: scene.user, by: table, SeededGenerator(seed: seed, part: part))
      for _ in 0..<40 { schedule.play() }
      let found = try await scene.database.sql("begin;\n\(schedule.script)\nrollback").split(separator: "\n")
      try #require(found.count == schedule.expected.count)
      let wrong = zip(found, schedule.expected).enumerated().first { String($0.element.0) != $0.element.1 }
      #expect(
        wrong == nil,
        """
        seed \(seed), part \(part): \(schedule.events.prefix((wrong?.offset ?? 0) + 1).joined(separator: ", ")): \
        \(wrong.map { "found \($0.element.0), expected \($0.element.1)" } ?? "")
        """)
      if wrong != nil { return }
    }
  }
}

/// A random schedule of one occasion: the statements, and what the occasion is after each of them.
struct OccasionSchedule {
  private static let zones = ["UTC", "Etc/GMT-9", "Etc/GMT+8"]
  private static let tokens = ["aa", "bb"]

  private let user: HostID
  private let table: OccasionTable
  private var random: SeededGenerator
  private(set) var events: [String] = []
  private(set) var expected: [String] = []
  private var statements: [String] = []

  /// Nil before it is rendered.
  private var state: String?
  private var armed: Set<String> = []
  private var pushes = 0
  private var zone = "UTC"
  private var isOn = true
  private var hasSlot = true
  private var isDenied = false
  /// Whether its time has come.
  private var isPast = false

  init(of user: HostID, by table: OccasionTable, _ random: SeededGenerator) {
    (self.user, self.table, self.random) = (user, table, random)
  }

  /// A slot at noon, whose day is tomorrow: in no zone is it over.
  static func preparation(of user: HostID) -> String {
    """
    delete from tacet.occasions;
    delete from tacet.slots;
    insert into tacet.slots (next_fire_at, fire_date, available_at, is_chosen, user_id, campaign, slot, time_zone)
    select tacet.civil_instant(n.day + time '12:00', 'UTC'), n.day, now(), true, '\(user)', 'ritual', '1200', 'UTC'
    from (select (now() at time zone 'UTC')::date + 1 as day) n;
    update tacet.campaigns set definition = jsonb_set(definition, '{category}', '{"id": "RITUAL", "actions": [
      {"id": "SNOOZE_30", "title": "Later", "foreground": false}, {"id": "DONE", "title": "Done", "foreground": false}]}')
    where name = 'ritual';
    create view tomorrow as select (now() at time zone 'UTC')::date + 1 as day;
    -- The occasion is due, and claimed so many times.
    create function tacet.fall(claims int) returns void language sql as $$
      update tacet.occasions d
      set fire_at = clock_timestamp() - interval '1 hour', available_at = clock_timestamp(), attempts = d.attempts + claims
      where d.slot = '1200' and d.fire_date = (select day from public.tomorrow) and d.status in ('scheduled', 'armed')
        and d.available_at < 'infinity'
    $$;
    """
  }

  var script: String {
    let shown = """
      select format(
        '%s [%s] %s', coalesce(tacet.occasion_state(d), 'none'),
        array_to_string(array(select t from unnest(d.armed_by) t order by t), '+'),
        (select count(*) from tacet.pushes p where p.campaign = 'ritual' and not p.metadata ? 'snooze'))
      from (select 1) one left join tacet.occasions d on d.slot = '1200' and d.fire_date = (select day from tomorrow);
      """
    return statements.map { "do $do$ begin perform \($0); end $do$;\n\(shown)" }.joined(separator: "\n")
  }

  mutating func play() {
    // Weights by which every state is reached, also that of an occasion which all devices show.
    switch events.isEmpty ? 3 : Int.random(in: 0..<32, using: &random) {
    case 0, 1: switchSlot(on: true)
    case 2: switchSlot(on: false)
    case 3...8: render()
    case 9, 10: move()
    case 11: leave()
    case 12...19: arm()
    case 20, 21: disarm()
    case 22: deny(true)
    case 23, 24: deny(false)
    case 25, 26: fall(isKilled: Bool.random(using: &random))
    case 27: acknowledge("delivered")
    case 28, 29: acknowledge("opened")
    case 30: act("SNOOZE_30")
    default: act("DONE")
    }
    expected.append("\(state ?? "none") [\(armed.sorted().joined(separator: "+"))] \(pushes)")
  }

  private mutating func note(_ event: String, _ statement: String) {
    events.append(event)
    statements.append(statement)
  }

  /// Lets an event meet the state.
  @discardableResult
  private mutating func meet(_ event: String) -> Bool {
    guard let state, let next = table.state(after: event, in: state) else { return false }
    // Its time is over, so it stays so.
    self.state = next == "denied" && isPast ? "skipped" : next
    if ["rendered", "moved", "off", "denied"].contains(event) { armed = [] }
    return true
  }

  private mutating func switchSlot(on isOn: Bool) {
    note(
      isOn ? "on" : "off",
      "tacet.choose_slots('ritual', '\(user)', \(isOn), '[{\"slot\": \"1200\", \"is_enabled\": true}]', 'UTC', 0)")
    (self.isOn, hasSlot) = (isOn, isOn)
    if !isOn { meet("off") }
  }

  private mutating func leave() {
    note("leave", "tacet.leave_slots('ritual', '\(user)')")
    hasSlot = false
    meet("off")
  }

  /// A window is rendered of slots that are on, and of times to come.
  private mutating func render() {
    note(
      "render",
      """
      tacet.prepare_occasions('ritual', array[s.user_id], array[s.slot], array[s.version], '{0}', array[null],
        array[t.day], array[tacet.civil_instant(t.day + time '12:00', s.time_zone)], array[s.time_zone],
        array[case when tacet.is_denied(s.user_id) then 'permission_denied' end], array['\(events.count)'], '{B}', '{C}',
        array['{}'], null)
        from tacet.slots s, tomorrow t
        where s.is_on and s.next_fire_at is not null and not exists (
          select from tacet.occasions d where d.slot = s.slot and d.fire_date = t.day and d.fire_at <= clock_timestamp())
      """)
    guard hasSlot, !isPast else { return }
    if isDenied {
      meet("denied")
    } else if state == nil {
      state = "scheduled"
    } else {
      meet("rendered")
    }
  }

  /// A user in another zone, who is in the audience.
  private mutating func move() {
    let next = Self.zones[Int.random(in: 0..<Self.zones.count, using: &random)]
    note("move", "tacet.move_slots('ritual', '\(user)', '\(next)', 0)")
    let isMoved = next != zone
    if isOn { hasSlot = true }
    zone = next
    if isMoved, meet("moved") { isPast = false }
  }

  private mutating func arm() {
    let token = Self.tokens[Int.random(in: 0...1, using: &random)]
    note("arm \(token)", acknowledgement("armed", "'\(token)'"))
    if !armed.contains(token), meet("armed") { armed.insert(token) }
  }

  private mutating func disarm() {
    let token = Self.tokens[Int.random(in: 0...1, using: &random)]
    note("disarm \(token)", acknowledgement("cancelled", "'\(token)'"))
    guard ["armed", "shown"].contains(state), armed.remove(token) != nil, armed.isEmpty else { return }
    meet("disarmed")
  }

  private mutating func deny(_ isDenied: Bool) {
    let calls = Self.tokens.map {
      "tacet.note_device_permission('\(user)', '\($0)', \(isDenied), null, clock_timestamp())"
    }
    note(isDenied ? "deny" : "allow", calls.joined(separator: ", "))
    self.isDenied = isDenied
    if isDenied { meet("denied") }
  }

  private mutating func acknowledge(_ code: String) {
    note(code, acknowledgement(code, "'aa'"))
    meet(code)
  }

  private func acknowledgement(_ code: String, _ token: String) -> String {
    "tacet.acknowledge_slot_row('\(user)', 'ritual', '1200', (select day from tomorrow), '\(code)', \(token))"
  }

  private mutating func act(_ action: String) {
    note(
      action,
      """
      a from tacet.report_slot_action('\(user)', gen_random_uuid(), '\(action)', 'ritual.1200.' || (select day from tomorrow),
        'ritual', '1200', (select day from tomorrow), clock_timestamp()) a
      """)
  }

  /// Its time comes: it is claimed and committed. A process that is killed has claimed it before, and its commit comes too late.
  private mutating func fall(isKilled: Bool) {
    let refusal = ["null", "null", "null", "'content_missing'", "'material_failed'", "'too_late'"].randomElement(
      using: &random)!
    let claims = isKilled ? 2 : 1
    func commit(_ attempts: String) -> String {
      """
      (
        select count(*)
        from tacet.occasions d
        cross join lateral tacet.commit_occasions('ritual', 'auto', array[d.user_id], array[d.slot], array[d.fire_date],
          array[d.fire_at], array[\(attempts)], array[\(refusal)], array[null], '{T}', '{B}', '{C}', array['{}'],
          array[null]::jsonb[]) c
        where d.slot = '1200' and d.fire_date = (select day from tomorrow) and d.status in ('scheduled', 'armed')
          and d.available_at < 'infinity'
      )
      """
    }
    note(
      isKilled ? "due, killed" : "due",
      "tacet.fall(\(claims)); perform \(isKilled ? commit("d.attempts - 1") + "; perform " : "")\(commit("d.attempts"))"
    )
    guard state == "scheduled" || state == "armed" else { return }
    isPast = true
    if !hasSlot {
      meet("off")
    } else if refusal == "'too_late'", armed.count == Self.tokens.count, !isDenied {
      meet("shown")
    } else if refusal != "null" {
      meet(refusal.contains("failed") ? "failed" : "refused")
    } else if isDenied {
      meet("refused")
    } else if armed.count == Self.tokens.count {
      meet("shown")
    } else if meet("pushed") {
      pushes += 1
    }
  }
}
