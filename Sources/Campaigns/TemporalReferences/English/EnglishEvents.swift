/// English words for events, by the description under which an event is recorded.
enum EnglishEvents {
  static let vocabulary: TemporalLanguage.Vocabulary = table.split(separator: "\n").map { line in
    let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
    return (.event(parts[0]), TemporalLanguage.phrases(parts[1]))
  }

  /// A line for each event, with its description and its phrases: work, study, talks, health, travel, life.
  private static let table = """
    presentation: presentation, presentations, preso, presenting, present on, to present, i present, keynote, pitch, \
    pitching, demo, my talk, a talk, the talk, big talk, speech, giving a talk, give a talk
    interview: interview, interviews, interviewing, job interview, phone screen, final round, second interview, \
    first interview, second round interview
    meeting: meeting, meetings, meeting with, meet with, wants to meet, wants to meet with, one-on-one, one on one, \
    1:1, 1-1, standup, stand-up, catch-up, catch up with, sync, board meeting, team meeting, zoom, kickoff, kick-off
    call: call with, phone call, video call, zoom call, conference call, my call, a call, the call
    deadline: deadline, deadlines, due, due date, submit, hand in, turn in, submission, to deliver, cutoff
    review: review, performance review, annual review, appraisal, evaluation, review meeting, salary negotiation
    conference: conference, summit, offsite, retreat
    workshop: workshop, webinar, seminar, training, training session
    launch: launch, go live, release day, launch day
    first day: first day, start my new job, starting my new job, start the new job, new job starts
    last day: last day at, last day of work, my last day
    exam: exam, exams, midterm, midterms, mid-term, my final, final exam, finals, quiz, the test, a test, my test, \
    test on, big test, math test, maths test, driving test, driver's test, bar exam, board exam, oral exam, my sats, \
    resit
    thesis defense: thesis defense, thesis defence, viva, my defense, my defence, dissertation defense
    results: results, exam results, test results
    graduation: graduation, graduate, commencement
    recital: recital, concert, gig, audition, performance, rehearsal, opening night
    class: class, lecture, lesson, my course starts
    conversation: conversation, my talk with, a talk with, the talk with, my talk to, talk with, talk to, talking to, \
    talking with, speak to, speak with, speaking to, speaking with, chat with, conversation with, hard conversation, \
    difficult conversation, discussion, discussion with, confront, confronting, have the talk, sit down with, \
    break up with, tell my boss, tell my parents, heart to heart
    negotiation: negotiation, negotiations, negotiating
    mediation: mediation, hearing, court, court date, trial, custody hearing
    appointment: appointment, appointments, appt, doctor's appointment, doctors appointment, dentist, \
    dentist's appointment, dentist appointment, doctor's, checkup, check-up, therapist, therapy, therapy session, \
    physio, my scan, mri, ultrasound, blood test, counseling, counselling, see my doctor, see the doctor, \
    seeing my doctor, job center, visa appointment
    surgery: surgery, operation, procedure, my op
    session: session, coaching session, sessions
    flight: flight, flights, flying to, fly to, flying out, fly out, flying home, fly home, i fly
    trip: trip, vacation, holiday trip, leaving for, travel to, traveling to, travelling to, journey
    move: moving day, moving house, moving out, moving in, moving to, the move, move house, the movers
    wedding: wedding, getting married, get married, bachelorette party, rehearsal dinner
    funeral: funeral, memorial service, the wake
    birthday: birthday, bday, birthday party
    anniversary: anniversary
    date: first date, second date, a date with, date night, blind date, a date, my date
    party: party, reunion, family gathering, baby shower, housewarming, school reunion
    dinner: dinner, dinner with, lunch with, brunch, brunch with, breakfast with, coffee with, drinks with
    race: race, marathon, half marathon, half-marathon, triathlon, competition
    game: game, match, tournament, my fight, championship, tryout, tryouts
    viewing: viewing, apartment viewing, house viewing, inspection, closing on the house
    visit: visiting my, my parents are coming, in-laws are coming
    """
}
