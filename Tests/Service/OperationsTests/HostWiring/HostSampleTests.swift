import Foundation
import Operations
import TestHosts
import Testing

@Suite("Applications that many people run")
struct HostSampleTests {
  @Test("are guessed, with at most two answers", arguments: HostSample.all)
  func guessed(_ sample: HostSample) async throws {
    let host = try await WiredHost(sample.tables)
    let plan = try WiringPlan(host.schema, WiringAnswers(sample.answers))
    #expect(WiringSummary(plan).lines == sample.summary)
    #expect(plan.migrateOptions == sample.migrateOptions)
    #expect(sample.answers.count <= 2)
    #expect(!WiringPlan.isDefault(host.schema))
    // Each answer was asked for, and the one given is among the choices where there is a list.
    var answers = WiringAnswers()
    for _ in sample.answers {
      let question = try #require(throws: WiringQuestion.self) { try WiringPlan(host.schema, answers) }
      let answer = try #require(sample.answers["--\(question.subject.rawValue)"])
      #expect(question.isOpen || question.choices.first == answer)
      answers[question.subject] = answer
    }
    #expect(try WiringPlan(host.schema, answers) == plan)
  }

  @Test("have functions that read their tables, from a file that may run twice", arguments: HostSample.all)
  func read(_ sample: HostSample) async throws {
    let host = try await WiredHost(sample.tables)
    var answers = WiringAnswers(sample.answers)
    // A role's name may be anything, and roles are shared by all databases of the server.
    let role = "a \"role\" \(UUID())"
    answers.role = role
    try await host.sql("create role \"\(role.replacing("\"", with: "\"\""))\"")
    let plan = try WiringPlan(host.schema, answers)
    try await host.makeContract(for: plan)
    for _ in 1...2 { try await host.run(WiringFile(plan).text) }
    let again = try WiringPlan(try await host.lookAgain(), answers)
    #expect(WiringSummary(again).lines == sample.summary)
    // Tokens reach Tacet in lower case; applications store them in either.
    let isOwn = sample.people.contains("register_device")
    let token = String(repeating: isOwn ? "ab" : "aB", count: 32)
    try await host.sql(sample.people.replacing("$token", with: token))
    let message = try await host.sql(sample.message)
    let shown = try await host.sql(
      """
      select conversation_id, coalesce(sender_name, '-'), body, abs(extract(epoch from now() - coalesce(created_at, now()))) < 3600
      from tacet.message_context('\(message)')
      """)
    #expect(shown == "\(sample.conversation)|\(sample.shown.name ?? "-")|\(sample.shown.text)|t")
    let recipients = try await host.sql(
      """
      select s.user_id from tacet.seen_by('\(sample.conversation)') s, tacet.message_context('\(message)') m
      where s.user_id is distinct from m.sender_id
      """)
    #expect(recipients == sample.reader)
    let tokens = "select string_agg(device_token, ',') from tacet.device_tokens('\(sample.reader)')"
    #expect(try await host.sql(tokens) == token.lowercased())
    #expect(try await host.sql("select user_id from tacet.device_token_owners('abab', 5)") == sample.reader)
    for (since, isKept) in [("- interval '9 years'", sample.hasRegistrationTimes), ("+ interval '1 hour'", false)] {
      try await host.sql(
        "select tacet.invalidate_device_token('\(token.lowercased())', 'Unregistered', now() \(since))")
      #expect(try await host.sql(tokens) == (isKept ? token.lowercased() : ""))
    }
  }

  @Test(
    "date a message without a time zone by its insert, wherever the host's sessions are",
    arguments: ["America/Los_Angeles", "Asia/Tokyo"])
  func unzoned(_ zone: String) async throws {
    for sample in HostSample.all where sample.tables.contains("timestamp") {
      let host = try await WiredHost(sample.tables)
      let plan = try WiringPlan(host.schema, WiringAnswers(sample.answers))
      try await host.makeContract(for: plan)
      try await host.run(WiringFile(plan).text)
      try await host.sql(
        "do $$ begin execute format('alter database %I set timezone = %L', current_database(), '\(zone)'); end $$")
      try await host.sql(sample.people.replacing("$token", with: String(repeating: "ab", count: 32)))
      let message = try await host.sql(sample.message)
      let age = "select coalesce(now() - created_at, '0') < '1 h' from tacet.message_context('\(message)')"
      #expect(try await host.sql("set timezone = 'UTC'; \(age)").hasSuffix("t"), "\(sample)")
    }
  }

  @Test("keep back what people did not write or have deleted", arguments: HostSample.all)
  func keptBack(_ sample: HostSample) async throws {
    let host = try await WiredHost(sample.tables)
    let plan = try WiringPlan(host.schema, WiringAnswers(sample.answers))
    try await host.makeContract(for: plan)
    try await host.run(WiringFile(plan).text)
    try await host.sql(sample.people.replacing("$token", with: "00"))
    try await host.sql(sample.note)
    let table = sample.summary[0].split(separator: " ")[1]
    let pushed = "select count(*) from \(table) t cross join lateral tacet.message_context(t.id) m"
    #expect(try await host.sql(pushed) == "0")
  }

  @Test("take presence from apps", arguments: HostSample.all)
  func presence(_ sample: HostSample) async throws {
    let host = try await WiredHost(sample.tables)
    let plan = try WiringPlan(host.schema, WiringAnswers(sample.answers))
    try await host.makeContract(for: plan)
    try await host.run(WiringFile(plan).text)
    try await host.sql(sample.people.replacing("$token", with: "00"))
    func report(_ hasLooked: Bool, _ hasLeft: Bool) async throws -> String {
      try await host.sql(
        """
        select is_participant, is_skipped
        from tacet.view_conversations('{\(sample.conversation)}', '{\(sample.reader)}', '{\(hasLooked)}', '{\(hasLeft)}')
        """)
    }
    let seen = """
      select last_seen > now() - interval '1 minute', left_at >= last_seen from tacet.seen_by('\(sample.conversation)')
      where user_id = '\(sample.reader)'
      """
    #expect(try await report(true, false) == "t|f")
    #expect(try await host.sql(seen) == "t|")
    #expect(try await report(false, true) == "t|f")
    #expect(try await host.sql(seen) == "t|t")
    #expect(try await report(true, false) == "t|f")
    #expect(try await host.sql(seen) == "t|")
  }
}
