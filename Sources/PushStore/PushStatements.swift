/// Every SQL statement the service runs against its own tables and the host contract; nothing else writes SQL.
///
/// They are prepared once per connection, under these names.
enum PushStatements {
  /// What the plans of the statements rely on: without sequential scans a look-up by place or key is one, however small
  /// the planner believes a queue table to be. A sequential scan that cannot be avoided then counts as expensive enough
  /// to be compiled first, which takes longer than any of the statements.
  static let sessionSettings = ["enable_seqscan": "off", "jit": "off"]
}
