internal import Postgres

extension PushStatements {
  /// Notes a push that a server asks for and queues it: one transaction, which waits for the disk whatever the session's
  /// other ones do, because no transaction of the host stands behind it. No row when the key is taken; two requests of
  /// one key wait for each other here.
  ///
  /// `$1`: the user. `$2`: the kind. `$3`: the title. `$4`: the body. `$5`: the data. `$6`: the collapse identifier.
  /// `$7`: the idempotency key.
  static let submitPush = PostgresStatement(
    "submit_push",
    """
    with \(durable), entered as (
      insert into tacet.pushes (user_id, kind, title, body, data, collapse_id, idempotency_key)
      select $1, $2, $3, $4, $5::json, $6, $7 from durable
      on conflict (idempotency_key) where idempotency_key is not null do nothing
      returning id, user_id, kind, created_at
    ), queued as (
      insert into tacet.inbox (subject_id, kind, conversation_id, enqueued_at)
      select e.id, e.kind, e.user_id, e.created_at from entered e
    )
    select e.id, (extract(epoch from e.created_at) * 1000000)::bigint, true from entered e
    """,
    [.uuid, .text, .text, .text, .text, .text, .text])

  /// The push of an idempotency key, and whether it is the one described; parameters as in ``submitPush``.
  static let submittedPush = PostgresStatement(
    "submitted_push",
    """
    select
      p.id, (extract(epoch from p.created_at) * 1000000)::bigint,
      p.user_id = $1 and p.kind = $2 and p.title = $3 and p.body = $4 and p.data::text is not distinct from $5
        and p.collapse_id is not distinct from $6
    from tacet.pushes p
    where p.idempotency_key = $7
    """,
    [.uuid, .text, .text, .text, .text, .text, .text])
}
