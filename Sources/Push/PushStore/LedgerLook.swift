/// How a claim knows which recipients `v` of an event `w` stand in the ledger already.
///
/// The ledger is asked by comparing rows, which only its index by subject can answer: while the planner believes it to be
/// empty, any index seems as good as that one, and reading the whole of another is not.
struct LedgerLook {
  /// Common table expressions that go before, with a comma behind each.
  var preparation = ""

  /// The condition that one does not stand there.
  let isNew: String

  /// The ledger is read once for each event, from the last recipient on whom its parts have told, and each recipient looked
  /// up in what was found.
  static let ofEvents = LedgerLook(
    preparation: """
      recorded as materialized (
        select w.subject_id, w.kind, l.user_id
        from work w
        cross join lateral (
          \(recipients(of: "w"))
          offset 0
        ) l
        where w.user_id is null
      ),\u{20}
      """,
    isNew: "((w.subject_id, w.kind, v.user_id) in (select r.subject_id, r.kind, r.user_id from recorded r)) is not true"
  )

  /// Those of an event who stand there and may be taken again.
  /// - Parameter row: an alias whose table has `subject_id`, `kind` and `told_until`.
  static func recipients(of row: String) -> String {
    """
    select l.user_id
    from public.push_log l
    where (l.subject_id, l.user_id)
        >= (\(row).subject_id, coalesce(\(row).told_until, '00000000-0000-0000-0000-000000000000'))
      and (l.subject_id, l.user_id) <= (\(row).subject_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
      and l.push_type = \(row).kind
    """
  }
}
