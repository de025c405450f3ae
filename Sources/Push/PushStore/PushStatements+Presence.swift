internal import Postgres

extension PushStatements {
  /// Writes who looks at what and who has left, and says what each user is to the surface.
  ///
  /// `$1`, `$2`: kinds and ids of surfaces. `$3`: users. `$4`: who has looked. `$5`: who has left. Columns of equal length;
  /// no surface and user twice. Answers a row for each: kind, id, user, whether the user takes part, null for a surface that
  /// is none, and whether nothing was written because somebody else has locked the row.
  static let noteViews = PostgresStatement(
    "note_views",
    """
    with reported as materialized (
      select r.* from unnest($1, $2, $3, $4, $5) as r (kind, id, user_id, has_looked, has_left)
    )
    select 'conversation' as kind, v.conversation_id as id, v.user_id, v.is_participant as takes_part, v.is_skipped
    from (
      select
        array_agg(r.id) as ids, array_agg(r.user_id) as user_ids, array_agg(r.has_looked) as have_looked,
        array_agg(r.has_left) as have_left
      from reported r
      where r.kind = 'conversation'
      having count(*) > 0
    ) c
    cross join lateral tacet.view_conversations(c.ids, c.user_ids, c.have_looked, c.have_left) v
    union all
    select v.surface_kind, v.surface_id, v.user_id, v.is_viewer, v.is_skipped
    from (
      select
        array_agg(r.kind) as kinds, array_agg(r.id) as ids, array_agg(r.user_id) as user_ids,
        array_agg(r.has_looked) as have_looked, array_agg(r.has_left) as have_left
      from reported r
      where r.kind <> 'conversation'
      having count(*) > 0
    ) s
    cross join lateral tacet.view_surfaces(s.kinds, s.ids, s.user_ids, s.have_looked, s.have_left) v
    """,
    [.array(of: .text), .array(of: .uuid), .array(of: .uuid), .array(of: .bool), .array(of: .bool)])

  /// Whether row-level security hides from a function of the host contract the rows that it should write. `$1`: the
  /// function. `$2`: the table that it writes by default. `$3`: a conversation.
  static let hidesWrites = PostgresStatement(
    "hides_writes", "select tacet.hides_writes($1, $2, $3)", [.text, .text, .uuid])
}
