-- Returns the types of Live Activities with what is wrong with them, or null.

select t.name, tacet.live_activity_type_fault(t) as fault from tacet.activity_types t order by t.name limit 1000;
