internal import Campaigns
internal import Channels
internal import PushRules
internal import PushStore

/// What a reason means that the ledger, an answer or an explanation may have.
package struct ReasonMeaning: Equatable, Sendable {
  package let reason: String
  /// What it is said of, as a heading.
  package let subject: String
  /// A clause or a sentence.
  package let meaning: String

  /// All that there are, by what they are said of.
  package static let all =
    sorted(decisions, "A push was held or skipped, because")
    + sorted(RefusalWords.meanings, "A push did not reach a device, because")
    + sorted(CampaignWords.sentences.merging(LayerRule.meanings) { $1 }, "A campaign said nothing")

  private static let decisions: [String: String] = {
    let words = DecisionWords(kind: "message", known: nil)
    return Dictionary(
      uniqueKeysWithValues: DecisionWords.reasons.compactMap { reason in
        words.clause(for: reason).map { (reason, $0) }
      })
  }()

  private static func sorted(_ meanings: [String: String], _ subject: String) -> [Self] {
    meanings.sorted { $0.key < $1.key }.map { Self(reason: $0.key, subject: subject, meaning: $0.value) }
  }

  package static var text: String {
    var page = ExplanationPage(committedAt: nil)
    for (index, meaning) in all.enumerated() {
      if index == 0 || all[index - 1].subject != meaning.subject {
        if index > 0 { page.skip() }
        page.add(meaning.subject)
      }
      page.add(meaning.reason, meaning.meaning)
    }
    return page.text
  }

  package static var json: [UInt8] {
    let reasons: [PayloadObject] = all.map {
      ["meaning": .text($0.meaning), "reason": .text($0.reason), "subject": .text($0.subject)]
    }
    return (["reasons": .list(reasons)] as PayloadObject).encoded()
  }
}

/// What stood in the way of a push, by the reason that the ledger keeps: APNs' words, and our own.
enum RefusalWords {
  static func described(_ reason: String, by service: String = "APNs") -> String {
    if let meaning = meanings[reason] { return "\(meaning) (\(reason))" }
    guard reason.hasPrefix("http_") else { return "\(service == "APNs" ? "APNs'" : "its") reason was \(reason)" }
    let answered = "\(service) answered \(reason.dropFirst("http_".count)) without a reason"
    return service == "APNs" ? "\(answered) (\(reason))" : answered
  }

  /// A clause for each reason that is known.
  static let meanings = KnownChannels.all.reduce(into: own.merging(APNSWords.reasons) { $1 }) { meanings, channel in
    meanings.merge(channel.reasons) { $1 }
  }

  private static let own = [
    "app_not_configured": "the app of the device is not configured in the service",
    "too_many_in_flight": "as many pushes to the push service were under way as may be",
    "host_unreachable": "the push service could not be reached",
    "answer_late": "the push service did not answer in time, so it may have delivered the push",
    "answer_lost": "the connection ended before the answer, so the push may have been delivered",
    "channel_not_configured": "the service's settings do not have the channel",
    "parked": "it was set aside after it failed too often",
    "replayed": "it was set aside before, and somebody has put it back",
    "unknown": "the route takes no pushes",

    "targetMalformed": "what the browser or the app has registered is not what its push service gives out",
    "deviceTokenMalformed": "the registered device token is none: it is not an even number of hexadecimal digits",
    "collapseIdentifierMalformed": "the collapse identifier is longer than 64 bytes, or empty",
    "bundleIdentifierMalformed": "the app that the device was registered with is no bundle identifier",
    "priorityNotAllowed": "the priority does not fit the push type",
    "payloadEmpty": "there was nothing to say",
    "payloadTooLarge": "the push does not fit into what APNs takes",
    "customKeyReserved": "the custom data uses a name of APNs",
    "nothingToShow": "the push would show nothing",
    "numberNotFinite": "a number of the payload is not finite",
    "fractionOutOfRange": "a fraction of the payload is not between 0 and 1",
  ]
}

extension HistoryEntry.Attempt {
  /// Who was asked, as sentences name it.
  var service: String {
    route.flatMap(KnownChannels.type(ofRoute:))?.service ?? "APNs"
  }

  var why: String { reason.map { RefusalWords.described($0, by: service) } ?? "no reason was given" }
}

/// What the reasons of campaigns' decisions mean.
enum CampaignWords {
  /// A sentence; the word itself for one that is not known here.
  static func sentence(_ reason: String) -> String {
    sentences[reason] ?? LayerRule.meanings[reason] ?? "The reason is \(reason)."
  }

  static let sentences = [
    // What keeps a campaign from a user at a moment.
    "campaign_inactive": "The campaign is not active.",
    "not_in_audience":
      "The user is not in the campaign's audience: check-ins are not switched on, the frequency is not known, or no device is registered.",
    "day_over": "The user's day had ended.",
    "pushed_today": "A push of the campaign's cap group was queued for the user on that day already.",
    "recently_pushed":
      "The user's last push of the campaign's cap group was more recent than the user's frequency allows.",
    "session_today": "The user had a session on that day.",
    "no_account": "The user's account was deleted.",
    "no_tokens": "No device of the user is registered.",
    "opted_out": "The user does not want pushes of this kind.",
    "muted": "The user has muted such pushes.",
    "quiet_hours": "The user had quiet hours.",
    "permission_denied": "Every device of the user has reported that it may not show notifications.",
    "armed": "A device shows it by itself.",
    "no_preference": "The user's preferences do not say how to be treated in absence, or cannot be read.",
    "space_wanted": "The user wants space while away.",
    "never_wanted": "The user never wants such pushes.",
    "activity_unknown": "The user was never seen to be active.",
    "not_lapsed": "The user was active in the last three days.",
    "attempts_spent": "The user was asked back as often as may be since the last activity.",
    "asked_recently": "The user was asked back more recently than the user wants.",
    "asked_by_coach": "The coach has asked the user back within seven days.",
    "preferences_unreadable": "The user's preferences for it cannot be read.",
    "refused_by_host": "The host's function refuses the user, with a reason that is no word.",
    "switched_off": "The user has switched the slot off, or moved it.",
    "not_armed": "The campaign is shown by devices alone, and none has reported that it will.",
    "eligibility_unknown":
      "It could not be found out whether the user may be pushed, so nothing was sent; the database's log has the error.",

    // Why an occasion ended without a push.
    "nothing_to_say": "No layer found anything to say.",
    "already_done": "The user has done already what it reminds of.",
    "not_wanted": "The host's function says that nothing is to be said now.",
    "too_late": "Its time was too long ago when a service looked, or a later one of the campaign was due or sent.",
    "content_missing": "The host's content was never fetched.",
    "content_stale": "The host's content is older than it may be.",
    "attempts_exhausted": "Every process that looked at the user ended before it had decided.",
    "campaign_unusable": "The campaign's definition cannot be used; the service's log says why.",
    "material_failed": "The host's function for the user's material failed; the service's log has the error.",
    "on_push_failed": "The host's function that notes pushes failed; the database's log has the error.",
    "material_unreadable": "What the host's function says of the user is no JSON object.",
    "no_template": "No template could be filled.",
    "no_text": "Nothing was written.",

    // Why a model's text was not available, or was not sent.
    "model_not_configured": "No language model is set up.",
    "model_budget_spent": "The day's bound on the language model's tokens or cost was reached.",
    "model_user_budget_spent": "The user's part of a day's calls of the language model was used.",
    "model_timed_out": "The language model did not answer in time.",
    "model_unreachable": "The language model could not be reached.",
    "model_untrusted": "No trusted connection to the language model could be made.",
    "model_connection_lost": "The connection to the language model was lost.",
    "model_busy": "Too many calls were waiting for the language model.",
    "model_unusable_address": "The language model's address cannot be used.",
    "model_cancelled": "The call of the language model was broken off.",
    "model_closed": "The service was about to end before the language model had written.",
    "model_rate_limited": "The language model had too many requests.",
    "model_overloaded": "The language model was overloaded.",
    "model_server_failure": "The language model's server failed.",
    "model_refused_request": "The language model's server refused the request.",
    "model_unusable_reply": "The language model's answer has no text.",
    "model_truncated_reply": "The language model's answer was cut at its limit of tokens.",
    "model_declined": "The language model declined to write.",
    "model_reply_too_large": "The language model's answer was too large.",
    "reply_too_large": "The model's text was too large.",
    "reply_not_json": "The model's text was no JSON.",
    "reply_wrong_shape": "The model's text was not an object of a title and a body.",
    "reply_has_control": "The model's text had control characters.",
    "reply_title_too_long": "The model's title was too long.",
    "reply_body_too_long": "The model's body was too long.",
    "reply_has_link": "The model's text had a link.",
    "reply_has_markup": "The model's text had markup, or remains of its instructions.",
    "reply_empty_phrase": "The model's text had a phrase that could go to anybody.",
    "reply_demands": "The model's text demanded something.",
    "reply_quotes_user": "The model's text repeated the user's own words.",
  ]

  /// Why a model writes nothing of an event, as the end of a sentence.
  static func refusal(_ word: String) -> String { refusals[word] ?? "it is \(word)" }

  private static let refusals = [
    "not_theirs": "the event is not the user's", "over": "the event is over", "habit": "the event is a habit",
    "not_happening": "the event does not happen", "other": "none of those that it may give",
  ]

  /// What speaks against the reading of an event, as the end of a sentence.
  static func doubt(_ name: String) -> String { doubts[name] ?? "of \(name)" }

  private static let doubts = [
    "no_verb": "no verb says that it is ahead",
    "event_named_earlier": "an earlier sentence named the event",
    "day_named_earlier": "an earlier sentence named a day, and this one only a time",
    "hour_over": "the hour was over on that day, unless it is one of the evening",
    "after_midnight": "it was written after midnight, when tomorrow may be the day that had begun",
    "purpose": "the day may be that of something else that is done for the event",
    "unread_word": "a word beside the time was not understood",
    "no_day": "only a week, a month or a year is named",
    "approximate": "a count of weeks or months is rarely exact",
    "no_event": "no known event is named",
    "habit": "it happens again and again",
    "contradiction": "the weekday and the date do not fit",
    "anothers": "it belongs to another person",
    "quoted": "the words are somebody else's",
    "possibility": "it is only possible",
    "condition": "it depends on something",
    "question": "the message asks about it",
    "bound": "the time is a bound",
    "alternative": "it is one of several times",
    "denied": "the message denies it",
    "called_off": "it was called off or moved",
    "past": "it is over",
  ]
}
