import BenchReports

/// Runs of one scenario and subject with one figure, a round for each value.
func rounds(_ path: FigurePath, _ values: Double...) -> [BenchRun] {
  zip(1..., values).map {
    BenchRun(scenario: path.scenario, subject: path.subject, round: $0, figures: [path.figure: $1])
  }
}
