internal import Foundation

/// When a phrase is.
struct ResolvedTime: Equatable {
  let start: Date
  /// Exclusive, or equal to ``start`` for an instant.
  let end: Date
  let grain: TemporalGrain
}
