/// Somebody else's text made safe to stand on one line of ours: in a prompt's fence, in a template, in the log.
///
/// - Line breaks, tabs and other control characters become spaces, and runs of white space one space, so that a value
///   cannot begin a line of its own.
/// - Angle brackets, and characters that look like them, become ‹ and ›, so that a value cannot close the fence around it.
///   Escaping was chosen over a fence with a random name: nothing has to be drawn or kept secret, and the same material
///   always gives the same prompt.
/// - Characters that nobody sees are left out: those that turn the direction of writing, those of no width, and the tag
///   characters in which a whole sentence can be hidden. The joiners stay, because emoji and several scripts need them.
struct DataLine {
  /// The line, without white space at either end; empty when nothing visible was there.
  let text: String

  /// Reads until `scalarsMax` Unicode scalars are kept.
  ///
  /// Scalars are counted and not grapheme clusters, which have no largest size; a cluster torn by the limit is left out.
  init(_ source: String, scalarsMax: Int) {
    var kept = String.UnicodeScalarView()
    var room = scalarsMax
    var spaceIsDue = false
    for scalar in source.unicodeScalars {
      switch ScalarTreatment(of: scalar) {
      case .leaveOut: continue
      case .space: spaceIsDue = !kept.isEmpty
      case .keep(let visible):
        room -= spaceIsDue ? 2 : 1
        guard room >= 0 else {
          text = String(kept).withoutLastCluster(ifContinuedBy: spaceIsDue ? " " : visible)
          return
        }
        if spaceIsDue { kept.append(" ") }
        kept.append(visible)
        spaceIsDue = false
      }
    }
    text = String(kept)
  }
}

extension String {
  /// Itself, or without its last cluster when the next scalar would have been part of that.
  fileprivate func withoutLastCluster(ifContinuedBy next: Unicode.Scalar) -> String {
    var continued = self
    continued.unicodeScalars.append(next)
    return continued.count == count ? String(dropLast()) : self
  }
}
