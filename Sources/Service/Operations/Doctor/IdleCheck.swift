internal import PushStore

/// What wakes a service that leaves its database alone while nothing happens.
enum IdleCheck {
  static let name = "idle"

  private static let longest =
    "IDLE_MODE is webhook, and the service looks by itself after half of MESSAGE_TTL_SECONDS, at most "
    + FindingWords.duration(DatabaseSleep.longestMax)

  static func judge(_ webhook: ExaminedWebhook) -> CheckFinding {
    if webhook.hasURL, webhook.hasSecret, webhook.hasFunction {
      return CheckFinding(name, .ok, "\(longest); the trigger on inserted messages posts a webhook through pg_net")
    }
    if let trigger = webhook.hostTrigger {
      return CheckFinding(name, .ok, "\(longest); the trigger \(trigger) posts a webhook")
    }
    return CheckFinding(
      name, .warning, "\(longest); no trigger is known that posts a webhook, so messages may wait as long",
      remedy:
        "with pg_net, set tacet.settings.webhook_url and webhook_secret; otherwise let the application post to "
        + "/v1/webhooks/messages after each commit of a message, and ignore this")
  }
}
