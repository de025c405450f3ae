internal import PushStore

/// Whether the triggers' own webhook goes out.
enum WebhookPostCheck {
  static let name = "pg_net"

  static func judge(_ webhook: ExaminedWebhook, isListened: Bool) -> [CheckFinding] {
    notifications(webhook, isListened: isListened) + [post(webhook)]
  }

  private static func notifications(_ webhook: ExaminedWebhook, isListened: Bool) -> [CheckFinding] {
    guard isListened, !webhook.isNotifyEnabled else { return [] }
    return [
      CheckFinding(
        "notifications", .warning, "switched off in tacet.settings: messages wait for the poll or a webhook",
        remedy: "set tacet.settings.notify_enabled to true, unless the host uses PREPARE TRANSACTION")
    ]
  }

  private static func post(_ webhook: ExaminedWebhook) -> CheckFinding {
    guard webhook.hasURL else {
      return CheckFinding(name, .skipped, "tacet.settings.webhook_url is not set, so triggers post nothing")
    }
    guard webhook.hasSecret else {
      return CheckFinding(
        name, .failure, "webhook_url is set without webhook_secret: triggers post nothing",
        remedy: "set tacet.settings.webhook_secret to the service's WEBHOOK_SECRET")
    }
    guard webhook.hasFunction else {
      return CheckFinding(
        name, .failure, "webhook_url is set, but there is no net.http_post: triggers post nothing",
        remedy: "create extension pg_net, or set webhook_url to null")
    }
    guard let (first, second) = webhook.queue else {
      return CheckFinding(name, .ok, "present; this role may not look into its queue")
    }
    // A queue that moves has another first request at the second look.
    guard first.requests == 0 || first.first != second.first else {
      return CheckFinding(
        name, .failure,
        "\(Words.count(first.requests, of: 1000, "request", "requests")) in its queue, which does not move",
        remedy: "select net.worker_restart(), and see that shared_preload_libraries has pg_net")
    }
    return CheckFinding(name, .ok, first.requests == 0 ? "present, its queue is empty" : "present, its queue moves")
  }
}
