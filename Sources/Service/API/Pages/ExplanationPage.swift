internal import HTTPTypes
internal import Operations

/// The story of an event's pushes, told in order.
struct ExplanationPage {
  let explanations: [EventExplanation]
  let subjectID: String

  var page: Page {
    guard !explanations.isEmpty else {
      return Page(
        title: "Unknown", search: subjectID, status: .notFound,
        body: """
          <h1>Nothing is known of it</h1>
          <p class="lead">There was no such event, its pushes are older than what is kept, or it is not yet decided.</p>
          <p><code>\(subjectID)</code></p>
          """)
    }
    return Page(title: "Why", search: subjectID, body: "\(explanations.map(event))")
  }

  private func event(_ explanation: EventExplanation) -> HTML {
    let committed: HTML = explanation.committedAt.map { "Committed \(Wording.time($0)) UTC · " } ?? ""
    return """
      <article class="explanation">
      <h1>\(explanation.kind) <code>\(explanation.subjectID)</code></h1>
      <p class="lead">\(explanation.summary)</p>
      <p class="note">\(committed)<a href="\(recipientsLink(explanation))">all recipients</a></p>
      \(explanation.steps.isEmpty ? .none : whole(explanation))
      \(explanation.recipients.map { recipient($0, since: explanation.committedAt) })
      \(explanation.hasMoreRecipients ? moreRecipients(explanation) : .none)
      </article>
      """
  }

  private func whole(_ explanation: EventExplanation) -> HTML {
    """
    <section>
    <h2>The event</h2>
    \(story(explanation.steps, since: explanation.committedAt))
    </section>
    """
  }

  private func moreRecipients(_ explanation: EventExplanation) -> HTML {
    """
    <p class="note">There are more recipients than are told of here: <a href="\(recipientsLink(explanation))">list \
    them all</a>.</p>
    """
  }

  private func recipientsLink(_ explanation: EventExplanation) -> String {
    "\(DashboardLink.pushes)?subject_id=\(explanation.subjectID)"
  }

  private func recipient(_ recipient: EventExplanation.Recipient, since start: Int64?) -> HTML {
    """
    <section>
    <h2>To <a href="\(DashboardLink.pushes)?user_id=\(recipient.userID)"><code>\(recipient.userID)</code></a></h2>
    <p class="summary">\(recipient.summary)</p>
    \(story(recipient.steps, since: start))
    </section>
    """
  }

  /// What happened, in order; times are counted from the commit, or from the first of them where that is forgotten.
  private func story(_ steps: [EventExplanation.Step], since start: Int64?) -> HTML {
    guard let first = steps.first else { return .none }
    return "<ol class=\"story\">\n\(steps.map { step($0, since: start ?? first.at) })</ol>"
  }

  private func step(_ step: EventExplanation.Step, since start: Int64) -> HTML {
    let details = step.details.map { "<div><dt>\($0.name)</dt><dd>\($0.value)</dd></div>" as HTML }
    let list: HTML = details.isEmpty ? "" : "<dl>\(details)</dl>"
    let after = Duration.microseconds(step.at - start)
    return """
      <li><p><span class="after">+\(Wording.duration(after))</span> \(step.text)
      <span class="clock">\(Wording.time(step.at))</span></p>\(list)</li>

      """
  }
}
