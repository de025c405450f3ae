import Testing

@testable import Operations
@testable import PushStore

@Suite("Judgements about what waits")
struct QueueJudgementTests {
  @Test(
    "an event may be on its way for ten seconds, and must not for a minute",
    arguments: [
      (nil, .ok), (.seconds(-30), .ok), (.milliseconds(9999), .ok), (.seconds(10), .warning),
      (.milliseconds(59_999), .warning), (.seconds(60), .failure),
    ] as [(Duration?, Judgement.Verdict)])
  func inbox(_ overdue: Duration?, _ verdict: Judgement.Verdict) {
    var backlog = ExaminedBacklog()
    backlog.events = overdue == nil ? 0 : 3
    (backlog.eventOverdue, backlog.deliveryOverdue) = (overdue, overdue)
    let found = Judgement.backlog(backlog)
    #expect(found.map(\.name) == [nil, "holds and retries", "waiting for APNs", "parked"])
    #expect(found.map(\.verdict) == [verdict, verdict, .ok, .ok])
  }

  @Test(
    "a push may wait for APNs for a minute, and nothing should be parked",
    arguments: [(59, 0, [.ok, .ok]), (60, 0, [.warning, .ok]), (0, 1, [.ok, .warning])]
      as [(Int, Int, [Judgement.Verdict])])
  func waiting(_ seconds: Int, _ parked: Int, _ verdicts: [Judgement.Verdict]) {
    var backlog = ExaminedBacklog()
    (backlog.waiting, backlog.waitingAge, backlog.parked) = (1, .seconds(seconds), parked)
    #expect(Judgement.backlog(backlog).dropFirst(2).map(\.verdict) == verdicts)
  }

  @Test(
    "a deleted user's rows may be kept for ten minutes, and must not for an hour",
    arguments: [(nil, .ok), (600, .warning), (3599, .warning), (3600, .failure)] as [(Int?, Judgement.Verdict)])
  func erasures(_ seconds: Int?, _ verdict: Judgement.Verdict) {
    let judgement = Judgement.erasures(seconds.map { ExaminedErasures(users: 1, age: .seconds($0)) })
    #expect(judgement.verdict == verdict && judgement.found.contains("1 deleted user ") == (seconds != nil))
  }

  @Test(
    "a transaction may be open for five minutes, a replication slot a hundred thousand transactions behind",
    arguments: [
      (.seconds(299), 1_000_000, nil), (.seconds(300), 1, "session 7 (reports) has kept dead rows for 5 min"),
      (nil, 99_999, nil), (nil, 100_000, "replication slot reports keeps rows from 100000 transactions ago"),
    ] as [(Duration?, Int64, String?)])
  func snapshots(_ age: Duration?, _ transactions: Int64, _ words: String?) {
    let snapshot = ExaminedSnapshot(
      name: "reports", processID: age == nil ? nil : 7, age: age, transactions: transactions)
    let found = Judgement.snapshots([snapshot])
    #expect(found.map(\.verdict) == [words == nil ? .ok : .warning])
    if let words { #expect(found[0].found == words) }
  }

  @Test(
    "requests of pg_net may wait while its queue moves",
    arguments: [(0, false, .ok), (3, true, .ok), (3, false, .failure)] as [(Int, Bool, Judgement.Verdict)])
  func queue(_ requests: Int, _ isMoving: Bool, _ verdict: Judgement.Verdict) {
    var webhook = ExaminedWebhook()
    (webhook.hasURL, webhook.hasSecret, webhook.hasFunction) = (true, true, true)
    webhook.queue = WebhookQueue(requests: requests, first: requests > 0 ? 7 : nil)
    webhook.isQueueMoving = isMoving
    #expect(Judgement.webhookPosts(webhook).verdict == verdict)
  }

  @Test("what a webhook lacks is told, from the URL on, and notifications that are switched off where they are wanted")
  func webhook() {
    var webhook = ExaminedWebhook()
    #expect(Judgement.webhookPosts(webhook).verdict == .skipped)
    webhook.hasURL = true
    #expect(Judgement.webhookPosts(webhook).found.contains("without webhook_secret"))
    webhook.hasSecret = true
    #expect(Judgement.webhookPosts(webhook).found.contains("net.http_post"))
    webhook.hasFunction = true
    #expect(Judgement.webhookPosts(webhook).verdict == .ok)
    #expect(Judgement.notifications(webhook, isListened: true) == [])
    webhook.isNotifyEnabled = false
    #expect(Judgement.notifications(webhook, isListened: true).map(\.verdict) == [.warning])
    #expect(Judgement.notifications(webhook, isListened: false) == [])
  }

  @Test("a service that waits for webhooks is warned where no trigger is known to post one")
  func idle() {
    var webhook = ExaminedWebhook()
    #expect(Judgement.idle(webhook).verdict == .warning)
    (webhook.hasURL, webhook.hasSecret) = (true, true)
    #expect(Judgement.idle(webhook).verdict == .warning)
    webhook.hostTrigger = "on_message"
    #expect(Judgement.idle(webhook).found.contains("on_message"))
    (webhook.hostTrigger, webhook.hasFunction) = (nil, true)
    #expect(Judgement.idle(webhook).verdict == .ok)
    #expect(Judgement.idle(webhook).found.contains("after half of MESSAGE_TTL_SECONDS, at most 60 min"))
  }

  @Test("a process that has been silent for a minute does not run, or for an hour more where the database may sleep")
  func instances() {
    func instance(_ id: String, _ seconds: Int, _ version: String = "1") -> RunningInstance {
      RunningInstance(
        id: id, host: "here", processID: 1, version: version, startedAt: 0, age: .seconds(seconds), shards: 16)
    }
    #expect(Judgement.instances([]).verdict == .warning)
    #expect(
      Judgement.instances([instance("a", 59), instance("b", 60)]) == .ok("a on here with 16 of 16 shards, version 1"))
    #expect(Judgement.instances([instance("a", 60)]).found.contains("a on here did 60 s ago"))
    #expect(Judgement.instances([instance("a", 3659)], mayIdle: true).verdict == .ok)
    #expect(Judgement.instances([instance("a", 3660)], mayIdle: true).verdict == .warning)
    #expect(Judgement.instances([instance("a", 1), instance("b", 1, "2")]).found.contains("several versions: 1, 2"))
  }

  @Test("conversations that no running process owns are told, unless the processes may sleep")
  func unowned() {
    func instance(_ id: String, shards: Int, seconds: Int = 1) -> RunningInstance {
      RunningInstance(
        id: id, host: "here", processID: 1, version: "1", startedAt: 0, age: .seconds(seconds), shards: shards)
    }
    #expect(Judgement.instances([instance("a", shards: 9), instance("b", shards: 7)]).verdict == .ok)
    let few = [instance("a", shards: 9), instance("b", shards: 7, seconds: 60)]
    #expect(Judgement.instances(few).found == "a on here with 9 of 16 shards; nobody owns the conversations of 7")
    #expect(Judgement.instances([instance("a", shards: 0)], mayIdle: true).verdict == .ok)
  }

  @Test(
    "events that wait for a quarter of an hour are to be looked at, and what is dead; nothing of it fails the service")
  func hostEvents() {
    func judge(
      waiting: Int = 0, oldest: Duration? = nil, dead: Int = 0, announced: [String] = ["push.unread"],
      isConfigured: Bool = true
    ) -> Judgement {
      var figures = HostEventFigures()
      (figures.waiting, figures.oldestAge, figures.dead, figures.announced) = (waiting, oldest, dead, announced)
      return .hostEvents(figures, isConfigured: isConfigured)
    }
    #expect(judge(announced: [], isConfigured: false).verdict == .skipped)
    #expect(judge(isConfigured: false).remedy?.contains("EVENTS_URL") == true)
    #expect(judge(waiting: 1, announced: [], isConfigured: false).verdict == .warning)
    #expect(judge(announced: []).found == "announced: none; 0 events wait")
    #expect(
      judge(waiting: 1, oldest: .seconds(899)) == .ok("announced: push.unread; 1 event waits, the oldest for 14 min"))
    #expect(judge(waiting: 1, oldest: .seconds(900)).verdict == .warning)
    #expect(judge(dead: 1).verdict == .warning && judge(dead: 2).found.hasSuffix("2 are dead"))
  }
}
