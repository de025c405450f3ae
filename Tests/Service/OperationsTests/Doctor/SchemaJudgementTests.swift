import Testing

@testable import Operations
@testable import Postgres
@testable import PushStore

@Suite("Judgements about the schema and the way to it")
struct SchemaJudgementTests {
  @Test(
    "clocks may differ by two seconds, and by a minute at most, less what the measurement cannot tell",
    arguments: [
      (.milliseconds(1999), .zero, .ok), (.seconds(2), .zero, .warning), (.seconds(-2), .zero, .warning),
      (.seconds(2), .milliseconds(1), .ok), (.milliseconds(59_999), .zero, .warning), (.seconds(60), .zero, .failure),
      (.seconds(-3600), .seconds(1), .failure), (.seconds(1), .seconds(5), .ok),
    ] as [(Duration, Duration, Judgement.Verdict)])
  func clock(_ difference: Duration, _ uncertainty: Duration, _ verdict: Judgement.Verdict) {
    let finding = Judgement.clock(ClockComparison(difference: difference, uncertainty: uncertainty))
    #expect(finding.verdict == verdict)
    if verdict != .ok { #expect(finding.found.contains(difference > .zero ? "behind" : "ahead of")) }
  }

  @Test("migrations that are missing fail, those of a later program are told")
  func migrations() {
    let known = [Migration(name: "0001_first", text: ""), Migration(name: "0002_second", text: "")]
    let all = known.map { AppliedMigration(version: $0.version, name: $0.name) }
    let some = Array(all.prefix(1))
    let later = AppliedMigration(version: 9999, name: "9999_later")
    func verdict(_ applied: [AppliedMigration]) -> Judgement.Verdict {
      Judgement.migrations(applied, known: known).verdict
    }
    #expect(verdict(all) == .ok)
    #expect(verdict(some) == .failure)
    #expect(verdict(all + [later]) == .warning)
    #expect(verdict(some + [later]) == .failure)
    #expect(verdict(all + [AppliedMigration(version: 9999, name: "9999_later", oldestService: 9998)]) == .failure)
    #expect(verdict([]) == .failure)
    #expect(Judgement.migrations([later], known: known).remedy?.contains("reinstall") == true)
    for finding in [
      Judgement.migrations(all, known: known, changed: ["0001_a", "0002_b"]),
      Judgement.migrations(all, known: known, outdatedFunctions: ["0001_a", "0002_b"]),
    ] {
      #expect(finding.verdict == .warning)
      #expect(finding.found.contains("0001_a, 0002_b"))
    }
  }

  @Test("missing rights are mended by one call in our schema, by a grant each in the host's")
  func rights() {
    let missing = ["a", "b", "c", "d", "e", "f"].map {
      MissingRight(object: "tacet.\($0)", privilege: "select", isOwn: true)
    }
    let host = [
      MissingRight(object: "public.messages", privilege: "update (read_by)", isOwn: false),
      MissingRight(object: "public.profiles", privilege: "policy", isOwn: false),
    ]
    let findings = Judgement.rights(missing + host, role: "it's \"x\"")
    #expect(findings.map(\.verdict) == [.failure, .failure, .failure])
    #expect(findings[0].found.hasSuffix("select on tacet.e and 1 more"))
    #expect(findings[0].remedy?.hasSuffix("tacet.grant_service('it''s \"x\"')") == true)
    #expect(findings[1].remedy == #"grant update (read_by) on public.messages to "it's ""x""""#)
    #expect(findings[2].remedy?.hasPrefix("create policy tacet_service on public.profiles") == true)
    let odd = Judgement.rights(missing + host, role: "'\u{301}\"\u{301}; drop table y; --")
    #expect(odd[0].remedy?.hasSuffix("tacet.grant_service('''\u{301}\"\u{301}; drop table y; --')") == true)
    #expect(odd[1].remedy?.hasSuffix("to \"'\u{301}\"\"\u{301}; drop table y; --\"") == true)
    #expect(Judgement.rights([], role: "x").map(\.verdict) == [.ok])
  }

  @Test("what may be read and not written needs a policy for the command")
  func policies() {
    let remedies = ["update", "insert", "delete"].map {
      Judgement.rights([MissingRight(object: "public.t", privilege: "policy for \($0)", isOwn: false)], role: "r")[0]
        .remedy
    }
    #expect(
      remedies == [
        #"create policy tacet_service_update on public.t for update to r using (true) with check (true)"#,
        #"create policy tacet_service_insert on public.t for insert to r with check (true)"#,
        #"create policy tacet_service_delete on public.t for delete to r using (true)"#,
      ])
  }

  @Test(
    "a played message names what fails, and what to do",
    arguments: [
      (ContractTrial(step: "seen_by", outcome: .failed, sqlState: "42703", message: "x"), "fail", "replace it"),
      (ContractTrial(step: "register_device", outcome: .failed, sqlState: "42501", message: "x"), "fail", "let role r"),
      (
        ContractTrial(step: "mark_read", outcome: .failed, message: "row-level security lets"), "fail",
        "create a policy for update"
      ),
      (
        ContractTrial(step: "unread_count", outcome: .failed, sqlState: "22P02", message: "x"), "fail",
        "the server's log"
      ),
      (ContractTrial(step: "trigger", outcome: .failed, message: "no table"), "fail", "create trigger"),
      (
        ContractTrial(step: "trigger", outcome: .empty, message: "no policy shows this role"), "warn",
        "create a policy for select"
      ),
      (ContractTrial(step: "seen_by", outcome: .empty, message: "nobody"), "warn", "replace it"),
      (
        ContractTrial(step: "device_tokens", outcome: .empty, message: "no policy shows"), "warn",
        "create a policy for select"
      ),
      (ContractTrial(step: "reach", outcome: .empty, message: "none has a device"), "warn", "replace the functions"),
      (ContractTrial(step: "trigger", outcome: .skipped, message: "this role may not"), "ok", ""),
      (ContractTrial(step: "seen_by", outcome: .done), "ok", ""),
    ])
  func contract(_ trial: ContractTrial, _ verdict: String, _ remedy: String) {
    let findings = Judgement.contract([ContractTrial(step: "unread_count", outcome: .done), trial], role: "r")
    #expect(findings.map(\.verdict.rawValue) == [verdict])
    #expect((findings[0].remedy ?? "").contains(remedy) || remedy.isEmpty)
    if let state = trial.sqlState {
      #expect(findings[0].found.contains("tacet.\(trial.step) fails (SQLSTATE \(state))"))
    }
  }

  private static func triggers(_ table: ExaminedMessageTable, of host: Set<String> = []) -> [Judgement] {
    let trigger = ExaminedTrigger(
      table: table.name, name: "t", state: .ordinary, function: "enqueue_inserted_messages")
    return Judgement.triggers(
      [trigger], messageTables: [table], kinds: [], tables: host, replicationRole: "origin", replicationRoles: [])
  }

  @Test("triggers that end holds are missed on tables of the default host only")
  func holdTriggers() {
    let table = ExaminedMessageTable(name: "app.chat")
    #expect(Self.triggers(table) == [.ok("1 present and enabled")])
    #expect(Self.triggers(table, of: ["messages"]).map(\.verdict) == [.warning, .warning])
    let all = Self.triggers(table, of: ["messages", "conversation_participants"])
    #expect(all.map(\.verdict) == Array(repeating: .warning, count: 4))
    #expect(
      all[0].found
        == "no trigger runs tacet.release_concerned('read'): reading ends no hold; holds last until their window ends")
  }

  @Test("what keeps triggers from firing fails: none, a disabled one, a watched kind's, sessions of a replica")
  func deaf() {
    func trigger(_ state: TriggerState?) -> ExaminedTrigger {
      ExaminedTrigger(table: "app.chat", name: "t", state: state, function: "enqueue_inserted_messages")
    }
    func found(
      _ triggers: [ExaminedTrigger], kinds: [(kind: String, trigger: ExaminedTrigger)] = [], role: String = "origin",
      roles: [String] = []
    ) -> [String] {
      Judgement.triggers(triggers, kinds: kinds, tables: [], replicationRole: role, replicationRoles: roles).map(
        \.found)
    }
    #expect(found([]) == ["no table has the trigger on inserted messages: messages are pushed by webhook only"])
    #expect(found([trigger(.disabled)]) == ["t on app.chat is disabled"])
    #expect(found([trigger(.replica)]) == ["t on app.chat fires in replica sessions only"])
    #expect(
      found([trigger(.always)], kinds: [("order", trigger(nil))])
        == ["the watched kind order has no trigger t on app.chat"])
    #expect(
      found([trigger(.ordinary)], role: "replica", roles: ["app"])
        == ["session_replication_role is replica for this session, app: what they insert is not seen"])
  }

  @Test(
    "partitions without a trigger are a warning where others have one, and are mentioned otherwise; ids may not repeat")
  func messageTables() {
    let unwatched = Self.triggers(ExaminedMessageTable(name: "app.chat", otherPartitions: 12))
    #expect(unwatched.map(\.verdict) == [.ok])
    #expect(unwatched[0].found.hasSuffix("; rows inserted into a partition of app.chat by its name are not seen"))
    let some = Self.triggers(ExaminedMessageTable(name: "app.chat", watchedPartitions: 11, otherPartitions: 1))
    #expect(some.map(\.verdict) == [.warning])
    #expect(some[0].found.hasPrefix("1 of 12 partitions of app.chat have no trigger"))
    #expect(Self.triggers(ExaminedMessageTable(name: "app.chat", watchedPartitions: 12)).map(\.verdict) == [.ok])
    let tenants = Self.triggers(ExaminedMessageTable(name: "app.chat", repeatingKey: "tenant, id"))
    #expect(tenants.map(\.verdict) == [.failure] && tenants[0].found.contains("its primary key is (tenant, id)"))
  }

  @Test("inert functions are mentioned, and the one that leaves dead tokens is a warning")
  func inert() {
    let some = Judgement.hostFunctions([], inert: ["mark_read", "unread_count"])
    #expect(some.map(\.verdict) == [.ok])
    #expect(some[0].found.hasSuffix("inert until you replace them: mark_read, unread_count"))
    let dead = Judgement.hostFunctions([], inert: ["invalidate_device_token", "unread_count"])
    #expect(dead.map(\.verdict) == [.warning])
  }

  @Test(
    "a whole table is read by a sequential scan of that very table",
    arguments: [
      ("  ->  Seq Scan on inbox i", ["fail"]), ("  ->  Seq Scan on messages m", ["warn"]),
      ("  ->  Seq Scan on inbox_other i", ["ok"]), ("  ->  Index Scan using inbox_available_idx on inbox", ["ok"]),
      ("->  Seq Scan on deliveries", ["fail"]),
    ])
  func plan(_ line: String, _ verdicts: [String]) {
    #expect(Judgement.claimPlan(["Limit", line]).map(\.verdict.rawValue) == verdicts)
  }

  @Test("whose the sessions are said to be, and whose they are")
  func pooler() {
    func judgement(_ isPooled: Bool, _ isTransaction: Bool, _ host: String = "db") -> Judgement {
      .pooler(Self.server(isPooled: isPooled), host: host, isTransaction: isTransaction)
    }
    #expect(judgement(false, false).verdict == .ok)
    #expect(judgement(true, false).verdict == .ok)
    #expect(judgement(true, true).verdict == .ok)
    #expect(judgement(false, true).verdict == .warning)
    #expect(judgement(true, true, "aws-0-eu-central-1.pooler.supabase.com").found.hasPrefix("Supavisor"))
  }

  private static func server(
    _ version: Int = 150_000, isStandby: Bool = false, isReadOnly: Bool = false, isPooled: Bool = false
  ) -> ExaminedServer {
    ExaminedServer(
      version: version, isStandby: isStandby, isReadOnly: isReadOnly, isPooled: isPooled, role: "r",
      replicationRole: "origin")
  }

  @Test(
    "old servers and standbys are refused",
    arguments: [(139_999, false, "fail"), (140_000, false, "ok"), (150_006, true, "fail"), (180_001, false, "ok")])
  func server(_ version: Int, _ isStandby: Bool, _ verdict: String) {
    #expect(Judgement.server(Self.server(version, isStandby: isStandby)).verdict.rawValue == verdict)
  }

  @Test(
    "a server whose transactions only read is refused, in the words of readiness, and nothing else is blamed for it")
  func readOnly() {
    let server = Judgement.server(Self.server(isReadOnly: true))
    #expect(server.verdict == .failure && server.found.contains(PostgresError.takesNoWrites))
    let trials = [
      ContractTrial(step: "seen_by", outcome: .done),
      ContractTrial(step: "mark_read", outcome: .failed, sqlState: "25006", message: "no"),
    ]
    let contract = Judgement.contract(trials, role: "r")
    #expect(contract.map(\.verdict) == [.skipped] && contract[0].found.contains(PostgresError.takesNoWrites))
  }

  @Test("each role that reaches device tokens fails, and who can empty the table is told")
  func tokenAccess() {
    #expect(Judgement.tokenAccess([]).map(\.verdict) == [.ok])
    let findings = Judgement.tokenAccess([
      TokenAccess(role: "anon", privileges: "select"), TokenAccess(role: "public", privileges: "insert, delete"),
      TokenAccess(role: "authenticated", privileges: "truncate, trigger"),
    ])
    #expect(findings.map(\.verdict) == [.failure, .failure, .warning])
    #expect(findings[0].remedy?.contains("revoke select on public.push_tokens from anon") == true)
    #expect(findings[1].remedy?.contains("from public,") == true)
    #expect(findings[2].remedy == "revoke truncate, trigger on public.push_tokens from authenticated")
  }

  @Test("a look that fails is skipped when the rights or the thing are missing, and fails otherwise")
  func failures() {
    func verdict(_ state: SQLState?) -> Judgement.Verdict {
      Judgement.failed(PostgresError(.server, context: .init(sqlState: state)), of: "x").verdict
    }
    #expect(["42501", "42P01", "42703", "42883", "3F000"].map(verdict).allSatisfy { $0 == .skipped })
    #expect(["57014", "53200"].map(verdict).allSatisfy { $0 == .failure })
    #expect(verdict(nil) == .failure)
    // Nothing else says it when the role may use nothing of the schema.
    let rights = Judgement.failed(
      PostgresError(.server, context: .init(sqlState: "42501")), of: DatabaseLooks.rightsName)
    #expect(rights.verdict == .failure && rights.remedy?.contains("tacet.grant_service") == true)
  }

  @Test("a session that does not hear is blamed on whoever stands between")
  func listening() {
    #expect(Judgement.listening(.heard, pooler: nil).verdict == .ok)
    #expect(Judgement.listening(.timedOut, pooler: nil).verdict == .failure)
    let deaf = Judgement.listening(.failed(PostgresError(.deaf)), pooler: "Supavisor at x")
    #expect(deaf.found == "notifications do not arrive: Supavisor at x, stands between and swallows them")
    #expect(deaf.remedy?.contains("DATABASE_POOL_MODE=transaction") == true)
    let refused = PostgresError(.notConnected, "FATAL: unsupported startup parameter: options")
    #expect(Judgement.listening(.failed(refused), pooler: nil).found.hasPrefix("PgBouncer"))
  }
}
