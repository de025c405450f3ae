/// Who of this app is looking at which surface, so that a report of leaving never overtakes one of looking.
///
/// A view that disappears and the next one that appears end and begin their reports at the same time. The surface is left
/// when the last of them is gone, and who comes meanwhile waits until that is said.
actor SurfacePresence {
  private var viewers: [Surface: Int] = [:]
  private var leavings: [Surface: Task<Void, Never>] = [:]

  /// Somebody begins to look.
  func enter(_ surface: Surface) async {
    viewers[surface, default: 0] += 1
    await leavings[surface]?.value
  }

  /// Somebody looks no more; `leave` is called when nobody else does.
  func exit(_ surface: Surface, leave: @escaping @Sendable () async -> Void) async {
    let left = (viewers[surface] ?? 1) - 1
    viewers[surface] = left > 0 ? left : nil
    guard left <= 0 else { return }
    let leaving = Task { await leave() }
    leavings[surface] = leaving
    await leaving.value
    if leavings[surface] == leaving { leavings[surface] = nil }
  }
}
