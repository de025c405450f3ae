/// A time of day, or a stretch from one to another.
struct ClockExpression: Equatable {
  let start: ClockReading
  let end: ClockReading?
}
