// Who takes part, who looks, and what apps report of it.
extension WiringFile {
  var participantFunctions: [String] { [seenBy, takesPart, viewConversations] }

  private var seenBy: String {
    let comment: String
    let body: String
    switch plan.participants {
    case .table(let members):
      comment = "Who takes part in a conversation, and when each last looked at it."
      let looked = members.looked?.moment("p")
      let leftAt = members.leftAt?.moment("p")
      body = """
        select
          \(members.user.id("p")),
          \(looked.map { "greatest(\($0), s.last_seen)" } ?? "s.last_seen"),
          \(leftAt.map { "greatest(\($0), s.left_at)" } ?? "s.left_at")
        from \(members.table.sql) p
        left join tacet_host.presence s
          on s.conversation_id = seen_by.conversation_id and s.user_id = \(members.user.id("p"))
        where \(members.conversation.equals("seen_by.conversation_id", "p"))\(and(conditions(members)))
        """
    case .pair(let pair):
      comment = "Both users of a conversation, and when each last looked at it."
      let users = pair.users.map { "select \($0.id("c"))" }.joined(separator: " union ")
      body = """
        select p.user_id, s.last_seen, s.left_at
        from \(pair.table.sql) c
        cross join lateral (\(users)) as p (user_id)
        left join tacet_host.presence s on s.conversation_id = seen_by.conversation_id and s.user_id = p.user_id
        where \(pair.id.equals("seen_by.conversation_id", "c")) and p.user_id is not null
        """
    case .everyone:
      comment = "Every user takes part in every conversation."
      guard let users = plan.users else { preconditionFailure("a plan for everyone has a table of users") }
      body = """
        select \(users.id.id("u")), s.last_seen, s.left_at
        from \(users.table.sql) u
        left join tacet_host.presence s
          on s.conversation_id = seen_by.conversation_id and s.user_id = \(users.id.id("u"))\(whereUsers(users))
        """
    }
    return function(
      "seen_by(conversation_id \(plan.conversationIDs))",
      returns: "table (user_id \(plan.userIDs), last_seen timestamptz, left_at timestamptz)", comment: comment, body)
  }

  private func conditions(_ members: ParticipantsGuess) -> [String] {
    (RowCondition.known(members.user) + members.conditions).map { $0.sql("p") }
  }

  /// Who is muted takes part.
  private func present(_ members: ParticipantsGuess) -> [String] {
    members.conditions.filter { !$0.isWish }.map { $0.sql("p") }
  }

  private func whereUsers(_ users: UsersGuess) -> String {
    users.conditions.isEmpty ? "" : "\nwhere " + users.conditions.map { $0.sql("u") }.joined(separator: " and ")
  }

  private var takesPart: String {
    let body: String
    switch plan.participants {
    case .table(let members):
      let conversation = members.conversation.equals("takes_part.conversation_id", "p")
      body = """
        select coalesce(
          (
            select true
            from \(members.table.sql) p
            where \(conversation)
              and \(members.user.equals("takes_part.user_id", "p"))\(and(present(members), indent: 6))
            limit 1
          ),
          (select false from \(members.table.sql) p where \(conversation) limit 1))
        """
    case .pair(let pair):
      let users = pair.users.map { $0.equals("takes_part.user_id", "c") }.joined(separator: " or ")
      body = """
        select coalesce(\(users), false)
        from \(pair.table.sql) c
        where \(pair.id.equals("takes_part.conversation_id", "c"))
        """
    case .everyone:
      guard let users = plan.users else { preconditionFailure("a plan for everyone has a table of users") }
      let conditions = users.conditions.filter { !$0.isWish }.map { " and \($0.sql("u"))" }.joined()
      body = """
        select exists (
          select from \(users.table.sql) u where \(users.id.equals("takes_part.user_id", "u"))\(conditions))
        """
    }
    return function(
      "takes_part(conversation_id \(plan.conversationIDs), user_id \(plan.userIDs))", returns: "boolean",
      comment: "Whether a user takes part; null where nobody does.", body)
  }

  private var viewConversations: String {
    let (conversation, user) = (plan.conversationIDs.rawValue, plan.userIDs.rawValue)
    return function(
      "view_conversations(\n  conversation_ids \(conversation)[], user_ids \(user)[], have_looked boolean[], have_left boolean[]\n)",
      returns: "table (conversation_id \(conversation), user_id \(user), is_participant boolean, is_skipped boolean)",
      "plpgsql volatile",
      comment: """
        What apps report of presence. A look clears left_at; leaving is dated after the look. Held pushes are looked at again.
        """,
      """
      #variable_conflict use_column
      begin
        return query
          with reported as materialized (
            select r.room, r.person, r.has_looked, r.has_left, tacet.takes_part(r.room, r.person) as is_member
            from unnest(
              view_conversations.conversation_ids, view_conversations.user_ids, view_conversations.have_looked,
              view_conversations.have_left
            ) as r (room, person, has_looked, has_left)
          ), written as (
            insert into tacet_host.presence as s (conversation_id, user_id, last_seen, left_at)
            select
              r.room, r.person, case when r.has_looked then clock_timestamp() end,
              case when r.has_left then clock_timestamp() end
            from reported r
            where r.is_member
            order by r.room, r.person
            on conflict on constraint presence_pkey do update
            set last_seen = coalesce(excluded.last_seen, s.last_seen), left_at = excluded.left_at
          )
          select r.room, r.person, r.is_member, false from reported r;
        perform tacet.release_conversation(r.room, r.person)
        from unnest(view_conversations.conversation_ids, view_conversations.user_ids) as r (room, person);
      end
      """)
  }
}
