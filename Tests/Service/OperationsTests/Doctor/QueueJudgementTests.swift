@testable import Operations
import PushStore
import Testing

@Suite("Judgements about what waits")
struct QueueJudgementTests {
  @Test(
    "an event may be on its way for ten seconds, and must not for a minute",
    arguments: [
      (nil, .ok), (.seconds(-30), .ok), (.milliseconds(9999), .ok), (.seconds(10), .warning),
      (.milliseconds(59_999), .warning), (.seconds(60), .failure),
    ] as [(Duration?, CheckFinding.Verdict)])
  func inbox(_ overdue: Duration?, _ verdict: CheckFinding.Verdict) {
    var backlog = ExaminedBacklog()
    backlog.events = overdue == nil ? 0 : 3
    backlog.eventOverdue = overdue
    backlog.deliveryOverdue = overdue
    let findings = BacklogCheck.judge(backlog)
    #expect(findings.map(\.name) == ["inbox", "holds and retries", "waiting for APNs", "parked"])
    #expect(findings.map(\.verdict) == [verdict, verdict, .ok, .ok])
  }

  @Test(
    "a push may wait for APNs for a minute, and nothing should be parked",
    arguments: [(59, 0, [.ok, .ok]), (60, 0, [.warning, .ok]), (0, 1, [.ok, .warning])]
      as [(Int, Int, [CheckFinding.Verdict])])
  func waiting(_ seconds: Int, _ parked: Int, _ verdicts: [CheckFinding.Verdict]) {
    var backlog = ExaminedBacklog()
    backlog.waiting = 1
    backlog.waitingAge = .seconds(seconds)
    backlog.parked = parked
    #expect(BacklogCheck.judge(backlog).dropFirst(2).map(\.verdict) == verdicts)
  }

  @Test(
    "a deleted user's rows may be kept for ten minutes, and must not for an hour",
    arguments: [(nil, .ok), (600, .warning), (3599, .warning), (3600, .failure)] as [(Int?, CheckFinding.Verdict)])
  func erasures(_ seconds: Int?, _ verdict: CheckFinding.Verdict) {
    let finding = ErasureCheck.judge(seconds.map { ExaminedErasures(users: 1, age: .seconds($0)) })
    #expect(finding.verdict == verdict)
    #expect(finding.found.contains("1 deleted user ") == (seconds != nil))
  }

  @Test(
    "a transaction may be open for five minutes, a replication slot a hundred thousand transactions behind",
    arguments: [
      (.seconds(299), 1_000_000, []), (.seconds(300), 1, ["session 7 (reports) has kept dead rows for 5 min"]),
      (nil, 99_999, []),
      (nil, 100_000, ["replication slot reports keeps rows from 100000 transactions ago"]),
    ] as [(Duration?, Int64, [String])])
  func snapshots(_ age: Duration?, _ transactions: Int64, _ details: [String]) {
    let snapshot = ExaminedSnapshot(
      name: "reports", processID: age == nil ? nil : 7, age: age, transactions: transactions)
    let findings = SnapshotCheck.judge([snapshot])
    #expect(findings.filter { $0.verdict == .warning }.map(\.found) == details)
    #expect(findings.count == 1)
  }

  @Test(
    "pg_net's queue moves when its first request is another one, or gone",
    arguments: [
      (0, nil, nil, .ok), (3, 7, 8, .ok), (3, 7, nil, .ok), (3, 7, 7, .failure),
    ] as [(Int, Int64?, Int64?, CheckFinding.Verdict)])
  func queue(_ requests: Int, _ first: Int64?, _ second: Int64?, _ verdict: CheckFinding.Verdict) {
    var webhook = ExaminedWebhook()
    (webhook.hasURL, webhook.hasSecret, webhook.hasFunction) = (true, true, true)
    webhook.queue = (
      WebhookQueue(requests: requests, first: first),
      WebhookQueue(requests: second == nil ? 0 : requests, first: second)
    )
    #expect(WebhookPostCheck.judge(webhook, isListened: true).map(\.verdict) == [verdict])
  }

  @Test("what a webhook lacks is told, from the URL on")
  func webhook() {
    var webhook = ExaminedWebhook()
    #expect(WebhookPostCheck.judge(webhook, isListened: true).map(\.verdict) == [.skipped])
    webhook.hasURL = true
    #expect(WebhookPostCheck.judge(webhook, isListened: true)[0].found.contains("without webhook_secret"))
    webhook.hasSecret = true
    #expect(WebhookPostCheck.judge(webhook, isListened: true)[0].found.contains("net.http_post"))
    webhook.hasFunction = true
    #expect(WebhookPostCheck.judge(webhook, isListened: true).map(\.verdict) == [.ok])
    webhook.isNotifyEnabled = false
    #expect(WebhookPostCheck.judge(webhook, isListened: true).map(\.verdict) == [.warning, .ok])
    #expect(WebhookPostCheck.judge(webhook, isListened: false).map(\.verdict) == [.ok])
  }

  @Test("a service that waits for webhooks is warned where no trigger is known to post one")
  func idle() {
    var webhook = ExaminedWebhook()
    #expect(IdleCheck.judge(webhook).verdict == .warning)
    (webhook.hasURL, webhook.hasSecret) = (true, true)
    #expect(IdleCheck.judge(webhook).verdict == .warning)
    webhook.hostTrigger = "on_message"
    #expect(IdleCheck.judge(webhook).found.contains("on_message"))
    (webhook.hostTrigger, webhook.hasFunction) = (nil, true)
    #expect(IdleCheck.judge(webhook).verdict == .ok)
    #expect(IdleCheck.judge(webhook).found.contains("after half of MESSAGE_TTL_SECONDS, at most 60 min"))
  }

  @Test("a process that has been silent for a minute does not run, or for an hour more where the database may sleep")
  func instances() {
    func instance(_ id: String, _ seconds: Int, _ version: String = "1") -> ExaminedInstance {
      ExaminedInstance(id: id, host: "here", version: version, age: .seconds(seconds))
    }
    #expect(InstanceCheck.judge([]).map(\.verdict) == [.warning])
    #expect(
      InstanceCheck.judge([instance("a", 59), instance("b", 60)]).map(\.line) == [
        "ok    instances: a on here, version 1"
      ])
    #expect(InstanceCheck.judge([instance("a", 60)])[0].found.contains("a on here did 60 s ago"))
    #expect(InstanceCheck.judge([instance("a", 3659)], mayIdle: true).map(\.verdict) == [.ok])
    #expect(InstanceCheck.judge([instance("a", 3660)], mayIdle: true).map(\.verdict) == [.warning])
    #expect(InstanceCheck.judge([instance("a", 1), instance("b", 1, "2")])[0].found.contains("several versions: 1, 2"))
  }
}

@Suite("What the doctor says of events for the host")
struct HostEventJudgementTests {
  private func judge(
    waiting: Int = 0, oldest: Duration? = nil, dead: Int = 0, announced: [String] = ["push.unread"],
    isConfigured: Bool = true
  ) -> CheckFinding {
    var figures = HostEventFigures()
    (figures.waiting, figures.oldestAge, figures.dead, figures.announced) = (waiting, oldest, dead, announced)
    return HostEventCheck.judge(figures, isConfigured: isConfigured)
  }

  @Test("what waits for a quarter of an hour is to be looked at, and what is dead; nothing of it fails the service")
  func verdicts() {
    #expect(judge(announced: [], isConfigured: false).verdict == .skipped)
    #expect(judge(isConfigured: false).remedy?.contains("EVENTS_URL") == true)
    #expect(judge(waiting: 1, announced: [], isConfigured: false).verdict == .warning)
    #expect(judge(announced: []).found == "announced: none; 0 events wait")
    #expect(judge(waiting: 1, oldest: .seconds(899)).verdict == .ok)
    #expect(
      judge(waiting: 1, oldest: .seconds(899)).found == "announced: push.unread; 1 event waits, the oldest for 14 min")
    #expect(judge(waiting: 1, oldest: .seconds(900)).verdict == .warning)
    #expect(judge(dead: 1).verdict == .warning && judge(dead: 2).found.hasSuffix("2 are dead"))
  }

  @Test("any answer shows that the receiver is there; without one the service fails")
  func receiver() {
    #expect(HostEventCheck.judge(.success(405)).verdict == .ok)
    let fault = HostEventFault(description: "the host cannot be reached")
    #expect(HostEventCheck.judge(.failure(fault)).verdict == .failure)
  }
}
